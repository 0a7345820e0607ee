//! Inputs that are probably not what they should be.

use inducing_data::{
    ColumnType, EncodeOptions, Notation, Notice, ReadOptions, Scaling, TableSchema, Task, read_table,
};

use crate::folder::{Folder, table_of};

fn notices(content: &str, options: &EncodeOptions) -> Vec<Notice> {
    let table = table_of("t.csv", content);
    let rows: Vec<usize> = (0..table.rows()).collect();
    let fitted = TableSchema::fit(&table, &["y".into()], Some(Task::Regression), &rows, options);
    fitted.expect("a usable table").1
}

#[test]
fn a_value_far_from_the_rest_is_told_with_its_line() {
    let rows: String =
        (0..60).map(|i| if i == 40 { "9e15,3\n".into() } else { format!("{i},{}\n", i % 7) }).collect();
    let content = format!("x,y\n{rows}");
    let found = notices(&content, &EncodeOptions::default());
    assert_eq!(
        found,
        [Notice::Outlier { column: "x".into(), file: None, line: Some(42), row: 41, value: 9e15 }]
    );
    let text = found[0].to_string();
    assert!(text.contains("9000000000000000.0 in line 42") && text.contains("data.scaling"), "{text}");
    let quantiles = EncodeOptions { scaling: Scaling::Quantile, ..EncodeOptions::default() };
    assert!(notices(&content, &quantiles).is_empty(), "quantiles do not mind");
}

#[test]
fn foreign_notation_in_an_input_is_told_with_the_remedy() {
    let rows: String = (0..30).map(|i| format!("\"${},{:03}\",{} %,{i}\n", i % 4, i % 5, i % 9)).collect();
    let found = notices(&format!("price,share,y\n{rows}"), &EncodeOptions::default());
    let of = |column: &str, notation, example: &str| Notice::ForeignNotation {
        column: column.into(),
        notation,
        example: example.into(),
    };
    assert!(found.contains(&of("price", Notation::Currency, "$0,000")), "{found:?}");
    assert!(found.contains(&of("share", Notation::Percent, "0 %")), "{found:?}");
    assert!(found.iter().any(|notice| notice.to_string().contains("write numbers without the percent sign")));
}

#[test]
fn a_declared_type_is_not_doubted() {
    let folder = Folder::new();
    let rows: String = (0..40).map(|i| format!("k{i},{},{i}\n", i % 3)).collect();
    let source = folder.write("t.csv", format!("id,x,y\n{rows}"));
    let mut options = ReadOptions::default();
    for (declared, columns) in [(false, 1), (true, 2)] {
        if declared {
            options.column_types.insert("id".into(), ColumnType::Category);
        }
        let table = read_table(&source, &options).expect("readable");
        let all: Vec<usize> = (0..40).collect();
        let (schema, notices) =
            TableSchema::fit(&table, &["y".into()], None, &all, &EncodeOptions::default()).expect("usable");
        assert_eq!(schema.inputs.len(), columns);
        let dropped = notices.iter().find(|n| matches!(n, Notice::IdentifierLikeColumnDropped { .. }));
        assert_eq!(dropped.is_none(), declared);
        assert!(dropped.is_none_or(|notice| notice.to_string().contains("--set data.columns.id=category")));
    }
}
