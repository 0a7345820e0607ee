class InputTags:
    allow_nan: bool
    categorical: bool
    three_d_array: bool

class TargetTags:
    multi_output: bool

class Tags:
    input_tags: InputTags
    target_tags: TargetTags
