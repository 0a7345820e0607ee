//! Tables into matrices.

use inducing_data::{
    ColumnType, EncodeOptions, Encoding, Notice, Problem, Scaling, TableSchema, TargetValues, Task,
};

use crate::folder::{assert_place, table_of};

fn fit(content: &str, options: &EncodeOptions) -> (TableSchema, Vec<Notice>) {
    let table = table_of("t.csv", content);
    let rows: Vec<usize> = (0..table.rows()).collect();
    TableSchema::fit(&table, &["y".into()], Some(Task::Regression), &rows, options).expect("a usable table")
}

const MIXED: &str = "x,flag,colour,day,y\n\
    1,yes,red,2016-01-11,1\n2,no,blue,2016-01-12,2\n,yes,red,2016-01-13,3\n6,yes,,2016-01-14,6\n";

#[test]
fn numeric_features_come_first_and_indicators_last() {
    let (schema, notices) = fit(MIXED, &EncodeOptions::default());
    let names = schema.feature_names();
    let expected = [
        "x",
        "day:seconds",
        "day:day_of_month",
        "day:day_of_week",
        "day:day_of_year",
        "x=(missing)",
        "flag=true",
        "colour=blue",
        "colour=red",
        "colour=(missing)",
    ];
    assert_eq!(names, expected);
    assert_eq!((schema.numeric_width(), schema.indicator_width()), (5, 5));
    let imputed = |column: &str| Notice::MissingImputed { column: column.into(), count: 1 };
    assert_eq!(notices, [imputed("x"), imputed("colour")]);
    let table = table_of("t.csv", MIXED);
    let encoded = schema.encode(&table, Some(&[2, 3])).expect("the same table");
    assert_eq!(encoded.width, 10);
    assert_eq!(encoded.x[5..10], [1.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(encoded.x[15..20], [0.0, 1.0, 0.0, 0.0, 1.0]);
    // x = 1, 2, 6 has mean 3, variance 14/3 and median 2, which stands in for the gap.
    assert!((encoded.x[0] - (-1.0 / (14.0f32 / 3.0).sqrt())).abs() < 1e-6); // f32 rounding
}

#[test]
fn targets_are_standardised_and_restored() {
    let (schema, _) = fit(MIXED, &EncodeOptions::default());
    let table = table_of("t.csv", MIXED);
    let z = schema.targets(&table, None).expect("y is there");
    let TargetValues::Numbers(z) = z else { panic!("a regression") };
    assert!(z.iter().sum::<f64>().abs() < 1e-12); // rounding of four terms
    assert!((z.iter().map(|z| z * z).sum::<f64>() / 4.0 - 1.0).abs() < 1e-12);
    assert!((schema.targets.numbers()[0].restore(z[3]) - 6.0).abs() < 1e-12);
}

#[test]
fn a_schema_survives_json_exactly_and_refuses_unknown_fields() {
    for scaling in [Scaling::Standard, Scaling::Quantile, Scaling::None] {
        let (schema, _) =
            fit(MIXED, &EncodeOptions { scaling, discrete_levels: 5, ..EncodeOptions::default() });
        let json = serde_json::to_string(&schema).expect("all numbers are finite");
        assert_eq!(serde_json::from_str::<TableSchema>(&json).expect("valid"), schema);
        let altered = json.replacen("\"inputs\"", "\"extra\":1,\"inputs\"", 1);
        assert!(serde_json::from_str::<TableSchema>(&altered).is_err());
    }
}

#[test]
fn without_scaling_numbers_stay_as_they_are_and_dates_do_not() {
    let content = "x,day,y\n5000000,2016-01-11,1\n7,2017-01-12,2\n";
    let (schema, _) = fit(content, &EncodeOptions { scaling: Scaling::None, ..EncodeOptions::default() });
    let encoded = schema.encode(&table_of("t.csv", content), None).expect("the same table");
    assert_eq!(encoded.x[..2], [5_000_000.0, -1.0]);
}

#[test]
fn columns_that_cannot_help_are_left_out_with_a_notice() {
    let rows: String = (0..20).map(|i| format!("7,,id{i},{},{i}\n", i % 3)).collect();
    let (schema, notices) = fit(&format!("same,empty,id,x,y\n{rows}"), &EncodeOptions::default());
    assert_eq!(schema.columns(), [("x".to_owned(), ColumnType::Number)]);
    let expected = [
        Notice::ConstantColumnDropped { column: "same".into() },
        Notice::AllMissingColumnDropped { column: "empty".into() },
        Notice::IdentifierLikeColumnDropped { column: "id".into(), distinct: 20, rows: 20 },
    ];
    assert_eq!(notices, expected);
    assert!(notices.iter().all(|notice| notice.to_string().lines().count() == 1));
}

#[test]
fn a_constant_with_gaps_is_kept_as_its_gaps() {
    let content = "pool,x,y\n1,1,1\n,2,2\n1,3,3\n";
    let (schema, _) = fit(content, &EncodeOptions::default());
    assert_eq!(schema.feature_names(), ["x", "pool=(missing)"]);
    let (schema, _) = fit(content, &EncodeOptions { missing_indicator: false, ..EncodeOptions::default() });
    assert_eq!(schema.feature_names(), ["x"]);
}

#[test]
fn few_integer_values_get_a_one_hot_beside_the_number() {
    let options = EncodeOptions { discrete_levels: 3, ..EncodeOptions::default() };
    let (schema, _) = fit("a,b,c,y\n1,1,0,1\n2,2,1,2\n3,3,0,3\n1,4,1,4\n", &options);
    let expected = ["a", "b", "c", "a=1", "a=2", "a=3"];
    assert_eq!(schema.feature_names(), expected, "b has too many values, c too few");
    let table = table_of("p.csv", "a,b,c\n2,1,0\n9,1,0\n");
    let x = schema.encode(&table, None).expect("fits").x;
    assert_eq!((&x[3..6], &x[9..12]), (&[0.0, 1.0, 0.0][..], &[0.0; 3][..]));
}

#[test]
fn plain_numbers_that_are_there_come_back_in_their_units_and_nothing_else_does() {
    let content = "few,x,day,flag,z,y\n1,10,2016-01-11,yes,0.25,1\n2,-20.5,2016-01-12,no,1e6,2\n\
        3,,2016-01-13,yes,7,3\n1,60,2016-01-14,yes,8,4\n";
    for scaling in [Scaling::Standard, Scaling::Quantile, Scaling::None] {
        let options = EncodeOptions { scaling, discrete_levels: 3, ..EncodeOptions::default() };
        let (schema, _) = fit(content, &options);
        let encoded = schema.encode(&table_of("t.csv", content), None).expect("the same table");
        let rows: Vec<_> = encoded.x.chunks(encoded.width).map(|row| schema.decode(row)).collect();
        let close = |got: Option<f64>, x: f64| (got.expect("a number") - x).abs() <= 1e-6 * x.abs().max(1e6);
        for (row, x, z) in
            [(0, Some(10.0), 0.25), (1, Some(-20.5), 1e6), (2, None, 7.0), (3, Some(60.0), 8.0)]
        {
            let [few, got, day, flag, got_z] = rows[row][..] else { panic!("{:?}", rows[row]) };
            assert_eq!((few, day, flag, got.is_some()), (None, None, None, x.is_some()));
            assert!(x.is_none_or(|x| (got.expect("it is there") - x).abs() < 1e-4), "{scaling:?}: {got:?}");
            assert!(close(got_z, z), "{scaling:?}: {got_z:?} {z}"); // 32 bits of a column up to 10⁶
        }
        // few | x | day's four parts | z, then indicators.
        assert_eq!(schema.free_numbers(&encoded.x[..encoded.width]), [None, Some(1), None, None, Some(6)]);
    }
}

#[test]
fn rare_levels_share_one_indicator() {
    let rows: String =
        (0..60).map(|i| format!("{},{i}\n", ["a", "b", "a", "c", "a", "b", "d"][i % 7])).collect();
    let options = EncodeOptions { max_categories: 3, ..EncodeOptions::default() };
    let (schema, notices) = fit(&format!("c,y\n{rows}"), &options);
    assert_eq!(schema.feature_names(), ["c=a", "c=b", "c=(other)"]);
    assert_eq!(notices, [Notice::RareLevelsMerged { column: "c".into(), levels: 4, kept: 2 }]);
    let encoded = schema.encode(&table_of("p.csv", "c,z\nd,1\nnew,1\na,1\n"), None).expect("fits");
    assert_eq!(encoded.x, [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    assert!(encoded.unseen.is_empty());
}

#[test]
fn unseen_levels_are_counted_and_new_gaps_are_filled() {
    let (schema, _) = fit("c,x,y\nr,1,1\ng,2,2\nr,4,3\n", &EncodeOptions::default());
    let encoded = schema.encode(&table_of("p.csv", "x,c\n1,blue\n,r\n3,pink\n"), None).expect("fits");
    assert_eq!(encoded.unseen.get("c"), Some(&2));
    assert_eq!(encoded.x[1..3], [0.0, 0.0]);
    // The median of 1, 2, 4 stands in: (2 − 7/3) / std.
    assert!((encoded.x[3] + 1.0 / 3.0 / (14.0f32 / 9.0).sqrt()).abs() < 1e-6); // f32 rounding
}

#[test]
fn only_training_rows_are_looked_at() {
    let table = table_of("t.csv", "c,x,y\nr,1,1\ng,3,3\nb,1e9,1e9\n");
    let (schema, _) =
        TableSchema::fit(&table, &["y".into()], None, &[0, 1], &EncodeOptions::default()).expect("two rows");
    assert_eq!(schema.targets.numbers()[0].mean, 2.0);
    assert!(matches!(&schema.inputs[0].encoding, Encoding::Category { levels, .. } if levels.len() == 2));
    assert!(schema.encode(&table, None).expect("the same table").x.iter().all(|x| x.is_finite()));
}

#[test]
fn a_column_that_changed_its_type_is_told() {
    let (schema, _) = fit("c,y\nr,1\ng,2\n", &EncodeOptions::default());
    let error = schema.encode(&table_of("p.csv", "c,z\n1,1\n2,2\n"), None).expect_err("numbers now");
    assert_place(&error, "p.csv", None, Some("c"));
    let expected = Problem::TypeChanged { expected: ColumnType::Category, got: ColumnType::Number };
    assert_eq!(*error.problem, expected);
    let error = schema.encode(&table_of("p.csv", "cc,z\n1,1\n2,2\n"), None).expect_err("gone");
    assert_place(&error, "p.csv", None, Some("c"));
}
