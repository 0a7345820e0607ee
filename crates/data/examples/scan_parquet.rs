//! Times the scan and the sample of generated Parquet files: `scan_parquet FILES ROWS_OF_A_FILE`.

use std::io::Write;
use std::time::Instant;

use inducing_data::{Alone, Column, ReadOptions, RowWriter, Shards, Sink, Source, Table, TableScan};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|number| number.parse::<usize>());
    let files = arguments.next().unwrap_or(Ok(4))?;
    let rows = arguments.next().unwrap_or(Ok(500_000))?;
    let folder = tempfile::tempdir()?;
    for file in 0..files {
        write(&folder.path().join(format!("part-{file:04}.parquet")), file, rows)?;
    }
    let name = folder.path().join("*.parquet").display().to_string();
    let source = Source::Shards(Shards::recognise(&name)?.ok_or("a pattern")?);
    for _ in 0..3 {
        let start = Instant::now();
        let scan = TableScan::new(&source, &ReadOptions::default(), &Alone)?;
        let scanned = start.elapsed();
        let start = Instant::now();
        let sample = scan.sample(10_000, 7, None, &Alone)?;
        let (rows, drawn, sampled) = (scan.rows, sample.table.rows(), start.elapsed());
        writeln!(std::io::stderr(), "{rows} rows: scan {scanned:?}, sample of {drawn} {sampled:?}")?;
    }
    Ok(())
}

/// Ten columns of numbers, a boolean and a time.
fn write(path: &std::path::Path, file: usize, rows: usize) -> Result<(), Box<dyn std::error::Error>> {
    let mut columns: Vec<(String, Column)> = (0..10)
        .map(|column| {
            let value = |row: usize| ((row * 7919 + file * 31 + column * 101) % 1_000_003) as f64 / 997.0;
            (format!("x{column}"), Column::Number((0..rows).map(value).collect()))
        })
        .collect();
    columns.push(("b".into(), Column::Boolean((0..rows).map(|row| Some(row % 3 == 0)).collect())));
    let time = |row: usize| Some(row as i64 * 60_000_000);
    columns.push(("t".into(), Column::DateTime((0..rows).map(time).collect())));
    let batch = Table::new("generated", columns)?.to_batch()?;
    let mut writer = RowWriter::create(&Sink::Path(path.into()), None, batch.schema())?;
    writer.write(&batch)?;
    writer.finish()?;
    Ok(())
}
