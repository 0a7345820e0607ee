//! Writes pages and figures of synthetic models of every kind into a folder, to look at:
//! `cargo run --release -p inducing-report --example pages -- FOLDER`.

#[path = "../tests/fixtures/mod.rs"]
mod fixtures;

use fixtures::*;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "pages".into());
    let mut second = numbers(2000, 10, 40);
    second.name = "houses-deep.ign".into();
    let mut several = page(numbers(2000, 10, 40));
    if let inducing_report::TargetRecord::Regression(record) = &mut second.targets[0] {
        record.metrics.rmse *= 0.9;
        record.coverage.iter_mut().for_each(|c| c.calibrated = c.calibrated.powf(1.2));
        record.risk_curve.iter_mut().for_each(|r| r[1] *= 0.9);
    }
    several.models.push(second);
    let mut one_each = classes(600, 6, 24);
    let network = one_each.networks[0].clone();
    one_each.networks = class_names(6)
        .iter()
        .map(|name| inducing_report::NetworkRecord { name: format!("{name} vs. rest"), ..network.clone() })
        .collect();
    let mut many = classes(900, 40, 40);
    if let inducing_report::TargetRecord::Classification(record) = &mut many.targets[0] {
        record.classes[0] = "a class whose name is far too long to be shown in full".into();
        record.classes[1] = "<script>alert(1)</script>".into();
    }
    let mut edge = numbers(40, 40, 90);
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>";
    edge.columns[0] = evil.into();
    if let inducing_report::TargetRecord::Regression(record) = &mut edge.targets[0] {
        record.name = format!("{evil} and a name that is very long indeed");
        for (k, point) in record.points.iter_mut().enumerate() {
            let scale = 10_f64.powi(k as i32 % 7 - 3) * 1e-6;
            (point.mean, point.truth, point.std) =
                (point.mean * scale, point.truth * scale, point.std * scale);
        }
        record.points[3].mean = f64::NAN;
        record.metrics.rmse = 1.234e-9;
        record.metrics.nll = f64::INFINITY;
    }
    for example in &mut edge.examples {
        example.name = evil.into();
        if let inducing_report::Body::Cells(cells) = &mut example.body {
            cells[1] = evil.repeat(3);
        }
    }
    let runs = [
        ("edge", page(edge)),
        ("one", page(classes(1, 2, 1))),
        ("networks", page(one_each)),
        ("many", page(many)),
        ("twenty", page(classes(900, 20, 40))),
        ("numbers", page(numbers(2000, 10, 40))),
        ("classes", page(classes(600, 3, 24))),
        ("images", page(images(2000, 100))),
        ("colour-images", page(colour_images(600, 96, 32))),
        ("texts", page(texts(500, 16))),
        ("graphs", page(graphs(500, 22, 16))),
        ("several", several),
    ];
    for (name, run) in &runs {
        let folder = Path::new(&folder);
        std::fs::create_dir_all(folder.join(name))?;
        std::fs::write(folder.join(format!("{name}.html")), inducing_report::render(run))?;
        for figure in inducing_report::figures(run) {
            std::fs::write(folder.join(name).join(format!("{}.svg", figure.name)), &figure.svg)?;
            #[cfg(feature = "png")]
            std::fs::write(folder.join(name).join(format!("{}.png", figure.name)), figure.png(2.0)?)?;
        }
    }
    Ok(())
}
