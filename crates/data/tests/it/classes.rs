//! Targets of classes: recognised, fitted, encoded, read back.

use inducing_data::{
    ClassTarget, ColumnType, DataError, EncodeOptions, Notice, Problem, ReadOptions, Table, TableSchema,
    Target, TargetValues, Task, class_codes, read_columns, read_table, recognise_task, rows_with_targets,
};

use crate::folder::{Folder, assert_place, table_of};

fn fit(table: &Table, task: Option<Task>) -> Result<(TableSchema, Vec<Notice>), DataError> {
    let (rows, _) = rows_with_targets(table, &["y".into()])?;
    TableSchema::fit(table, &["y".into()], task, &rows, &EncodeOptions::default())
}

fn classes(content: &str, task: Option<Task>) -> (ClassTarget, Vec<Notice>) {
    let (schema, notices) = fit(&table_of("t.csv", content), task).expect("usable");
    (schema.targets.classes().expect("a classification").clone(), notices)
}

fn refusal(content: &str, task: Option<Task>) -> DataError {
    fit(&table_of("t.csv", content), task).expect_err("unusable")
}

#[test]
fn text_truth_values_and_few_whole_numbers_are_recognised_as_classes() {
    let task = |content: &str| recognise_task(&table_of("t.csv", content), &["y".into()]).expect("usable");
    assert_eq!(task("x,y\n1,red\n2,blue\n3,red\n"), (Task::Classification, None));
    assert_eq!(task("x,y\n1,yes\n2,no\n"), (Task::Classification, None));
    let notice = Notice::NumbersAreClasses { column: "y".into(), classes: 2 };
    assert_eq!(task("x,y\n1,0\n2,1\n3,1\n4,0\n"), (Task::Classification, Some(notice.clone())));
    assert!(notice.to_string().contains("`--task regression`"));
    assert_eq!(task("x,y\n1,0.5\n2,1\n3,1\n4,0.5\n"), (Task::Regression, None));
    let many: String = (0..100).map(|i| format!("1,{}\n", i % 11)).collect();
    assert_eq!(task(&format!("x,y\n{many}")), (Task::Regression, None));
}

#[test]
fn a_declared_type_decides_the_task() {
    let folder = Folder::new();
    let task = |content: &str, kind| {
        let mut options = ReadOptions::default();
        options.column_types.insert("y".into(), kind);
        let table = read_table(&folder.write("t.csv", content), &options).expect("readable");
        recognise_task(&table, &["y".into()]).expect("usable")
    };
    assert_eq!(task("x,y\n1,0\n2,1\n3,1\n4,0\n", ColumnType::Number), (Task::Regression, None));
    assert_eq!(task("x,y\n1,0\n2,1\n3,1\n4,0\n", ColumnType::Category), (Task::Classification, None));
    assert_eq!(task("x,y\n1,$5\n2,$7\n3,$5\n", ColumnType::Category), (Task::Classification, None));
}

#[test]
fn levels_come_in_natural_order_with_their_counts() {
    let (target, notices) = classes("x,y\n1,10\n2,9\n3,9\n4,10\n5,9\n6,\n", None);
    let expected = ClassTarget {
        name: "y".into(),
        levels: vec!["9".into(), "10".into()],
        counts: vec![3, 2],
        column_type: ColumnType::Number,
    };
    assert_eq!(target, expected);
    assert_eq!(target.priors(), [0.6, 0.4]);
    assert_eq!(notices, [Notice::NumbersAreClasses { column: "y".into(), classes: 2 }]);
    let (target, _) = classes("x,y\n1,no\n2,yes\n3,no\n", None);
    assert_eq!((target.levels.join(" "), target.column_type), ("false true".into(), ColumnType::Boolean));
    let (target, _) = classes("x,y\n1,b\n2,a\n3,B\n4,a\n", None);
    assert_eq!((target.levels.join(" "), target.column_type), ("B a b".into(), ColumnType::Category));
    let (target, _) = classes("x,y\n1,1.5\n2,-0\n3,0\n4,1.5\n", Some(Task::Classification));
    assert_eq!(target.levels, ["0", "1.5"]);
}

#[test]
fn a_class_model_encodes_labels_and_survives_json() {
    let table = table_of("t.csv", "x,y\n1,red\n2,blue\n3,red\n4,\n5,green\n6,green\n");
    let (schema, _) = fit(&table, None).expect("usable");
    let all = schema.targets(&table, None).expect("known labels");
    assert_eq!(all, TargetValues::Classes(vec![Some(2), Some(0), Some(2), None, Some(1), Some(1)]));
    let some = schema.targets(&table, Some(&[4, 1])).expect("known labels");
    assert_eq!(some, TargetValues::Classes(vec![Some(1), Some(0)]));
    assert_eq!(class_codes(&table, "y").expect("labels")[..4], [Some(2), Some(0), Some(2), None]);
    let json = serde_json::to_string(&schema).expect("finite");
    assert!(
        json.contains(r#""targets":{"name":"y","levels":["blue","green","red"],"counts":[1,2,2]"#),
        "{json}"
    );
    assert_eq!(serde_json::from_str::<TableSchema>(&json).expect("valid"), schema);
    assert_eq!(schema.targets.columns(), [("y".to_owned(), ColumnType::Category)]);
}

#[test]
fn a_list_of_numbers_in_an_old_model_file_is_a_regression() {
    let old = r#"{"inputs":[],"targets":[{"name":"price","mean":1.5,"std":2.0}]}"#;
    let schema: TableSchema = serde_json::from_str(old).expect("files are kept readable");
    assert_eq!((schema.targets.task(), schema.targets.names()), (Task::Regression, vec!["price".to_owned()]));
    assert_eq!(serde_json::to_string(&schema).expect("finite"), old);
    let altered = old.replace("\"mean\"", "\"extra\":1,\"mean\"");
    assert!(serde_json::from_str::<TableSchema>(&altered).is_err());
}

#[test]
fn one_class_only_is_refused() {
    let error = refusal("x,y\n1,a\n2,a\n3,\n", None);
    assert_place(&error, "t.csv", None, Some("y"));
    assert_eq!(*error.problem, Problem::OneClass { label: "a".into(), rows: 2 });
}

#[test]
fn a_class_with_one_example_is_trained_on_with_a_notice() {
    let (target, notices) = classes("x,y\n1,a\n2,a\n3,b\n4,c\n5,c\n6,d\n", None);
    assert_eq!(target.counts, [2, 1, 2, 1]);
    let expected = Notice::SingleExamples { column: Some("y".into()), classes: vec!["b".into(), "d".into()] };
    assert_eq!(notices, [expected]);
    assert!(notices[0].to_string().starts_with("column `y`: classes `b`, `d` have a single example"));
}

#[test]
fn identifiers_and_measurements_are_not_classes() {
    let rows: String = (0..1001).map(|i| format!("{i},k{i}\n{i},k{i}\n")).collect();
    let error = refusal(&format!("x,y\n{rows}"), None);
    assert_place(&error, "t.csv", None, Some("y"));
    let expected = Problem::TooManyClasses { classes: 1001, rows: 2002, kind: ColumnType::Category };
    assert_eq!(*error.problem, expected);
    let error = refusal("x,y\n1,a\n2,b\n3,c\n", None);
    assert!(matches!(*error.problem, Problem::TooManyClasses { classes: 3, rows: 3, .. }), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("identifier")));
    let error = refusal("x,y\n1,1.5\n2,2.5\n3,3.5\n", Some(Task::Classification));
    assert!(error.hint().is_some_and(|hint| hint.contains("--task regression")), "{error}");
}

#[test]
fn several_targets_are_for_regression_only() {
    let table = table_of("t.csv", "x,y,z\n1,a,1\n2,b,2\n3,a,3\n");
    let targets = ["y".to_owned(), "z".to_owned()];
    let options = EncodeOptions::default();
    let error = TableSchema::fit(&table, &targets, None, &[0, 1, 2], &options).expect_err("y is text");
    assert_place(&error, "t.csv", None, Some("y"));
    assert_eq!(*error.problem, Problem::SeveralClassTargets { targets: 2 });
    let numbers = table_of("t.csv", "x,y,z\n1,0,1\n2,1,2\n3,0,1\n4,1,2\n");
    let error = TableSchema::fit(&numbers, &targets, Some(Task::Classification), &[0, 1, 2], &options)
        .expect_err("two targets");
    assert_place(&error, "t.csv", None, None);
    let (schema, notices) =
        TableSchema::fit(&numbers, &targets, None, &[0, 1, 2], &options).expect("numbers");
    assert!(matches!(schema.targets, Target::Numbers(targets) if targets.len() == 2));
    assert!(notices.is_empty());
}

#[test]
fn a_label_that_the_model_does_not_know_is_told_with_its_line_and_the_known_ones() {
    let (schema, _) = fit(&table_of("t.csv", "x,y\n1,red\n2,blue\n3,red\n"), None).expect("usable");
    let folder = Folder::new();
    let source = folder.write("test.csv", "y,x\nred,1\nblue,2\n,3\nblu,4\npink,5\n");
    let columns: Vec<_> = schema.columns().into_iter().chain(schema.targets.columns()).collect();
    let table = read_columns(&source, &ReadOptions::default(), &columns).expect("readable");
    let (rows, dropped) = rows_with_targets(&table, &schema.targets.names()).expect("labels");
    assert_eq!((rows.len(), dropped), (4, 1));
    let error = schema.targets(&table, Some(&rows)).expect_err("unknown labels");
    assert_place(&error, "test.csv", Some(5), Some("y"));
    let hint = error.hint().expect("a remedy");
    assert!(error.to_string().contains("does not know the class \"blu\""), "{error}");
    assert!(hint.contains("did you mean `blue`?") && hint.contains("`blue`, `red`"), "{hint}");
    assert!(schema.targets(&table, Some(&[0, 1])).is_ok(), "only the rows asked for are looked at");
}

#[test]
fn number_labels_are_read_back_as_numbers() {
    let (schema, _) = fit(&table_of("t.csv", "x,y\n1,0\n2,1\n3,1\n4,0\n"), None).expect("usable");
    let folder = Folder::new();
    let source = folder.write("test.csv", "x,y\n1,1.0\n2,0\n3,2\n");
    let columns: Vec<_> = schema.columns().into_iter().chain(schema.targets.columns()).collect();
    let table = read_columns(&source, &ReadOptions::default(), &columns).expect("readable");
    let known = schema.targets(&table, Some(&[0, 1])).expect("known");
    assert_eq!(known, TargetValues::Classes(vec![Some(1), Some(0)]));
    let error = schema.targets(&table, None).expect_err("2 is new");
    assert_place(&error, "test.csv", Some(4), Some("y"));
    let words = table_of("test.csv", "x,y\n1,a\n2,b\n");
    let error = schema.targets(&words, None).expect_err("another type");
    assert!(matches!(*error.problem, Problem::TypeChanged { .. }));
}

#[test]
fn classes_that_occur_in_held_out_rows_only_are_no_classes_of_the_model() {
    let table = table_of("t.csv", "x,y\n1,a\n2,b\n3,a\n4,c\n5,c\n");
    let (schema, _) =
        TableSchema::fit(&table, &["y".into()], None, &[0, 1, 2], &EncodeOptions::default()).expect("usable");
    assert_eq!(schema.targets.classes().expect("classes").levels, ["a", "b"]);
    assert!(schema.targets(&table, None).is_err());
}
