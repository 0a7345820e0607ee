//! The public sets: addresses, files and sums.
//!
//! A sum is that of the file's own bytes, whatever they are packed in, so that another container passes too.

use super::sources::{Check, Download, FetchSet, Packing, Wanted};

const MIB: u64 = 1 << 20;

/// A table in a zip archive of the UCI repository.
macro_rules! uci_table {
    ($name:literal, $also:expr, $about:literal, $file:literal, $check:expr, $($url:literal),+) => {
        FetchSet {
            name: $name,
            also: $also,
            about: $about,
            folders: &[$name],
            downloads: &[Download {
                urls: &[$($url),+],
                limit: 64 * MIB,
                packing: Packing::Zip,
                files: &[Wanted { name: $file, limit: 64 * MIB, check: $check }],
            }],
        }
    };
}

/// An idx file at two addresses.
macro_rules! idx {
    ($file:literal, $check:expr, $($folder:literal),+) => {
        Download {
            urls: &[$(concat!($folder, $file)),+],
            limit: 64 * MIB,
            packing: Packing::AsIs,
            files: &[Wanted { name: $file, limit: 64 * MIB, check: $check }],
        }
    };
}

macro_rules! mnist {
    ($file:literal, $sum:literal) => {
        idx!(
            $file,
            Check::Sha256($sum),
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "https://storage.googleapis.com/cvdf-datasets/mnist/"
        )
    };
}

macro_rules! fashion {
    ($file:literal, $check:expr) => {
        idx!(
            $file,
            $check,
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
        )
    };
}

/// One of the small tables, which nobody publishes with the header that they are read by.
const fn small(name: &'static str, about: &'static str) -> FetchSet {
    FetchSet { name, also: &[], about, folders: &["uci-small"], downloads: &[] }
}

const fn batch(name: &'static str, sum: &'static str) -> Wanted {
    Wanted { name, limit: 32 * MIB, check: Check::Sha256(sum) }
}

const fn reviews(name: &'static str, sum: &'static str) -> Wanted {
    Wanted { name, limit: 64 * MIB, check: Check::Sha256(sum) }
}

/// All public sets: those that can be fetched, then those that cannot.
pub(crate) static SETS: &[FetchSet] = &[
    FetchSet {
        name: "mnist",
        also: &[("toy-mnist", "the digits 5 and 6 of mnist")],
        about: "handwritten digits, 60,000 + 10,000 of 28 × 28 pixels",
        folders: &["mnist", "MNIST/raw"],
        downloads: &[
            mnist!(
                "train-images-idx3-ubyte.gz",
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
            ),
            mnist!(
                "train-labels-idx1-ubyte.gz",
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
            ),
            mnist!(
                "t10k-images-idx3-ubyte.gz",
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
            ),
            mnist!(
                "t10k-labels-idx1-ubyte.gz",
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"
            ),
        ],
    },
    FetchSet {
        name: "fashion-mnist",
        also: &[],
        about: "clothes, 60,000 + 10,000 of 28 × 28 pixels",
        folders: &["fashion-mnist", "FashionMNIST/raw"],
        downloads: &[
            // Of the training part only the sums of the packed files are published.
            fashion!(
                "train-images-idx3-ubyte.gz",
                Check::PackedSha256 {
                    sum: "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
                    unpacked_bytes: 47_040_016,
                }
            ),
            fashion!(
                "train-labels-idx1-ubyte.gz",
                Check::PackedSha256 {
                    sum: "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
                    unpacked_bytes: 60_008,
                }
            ),
            fashion!(
                "t10k-images-idx3-ubyte.gz",
                Check::Sha256("5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b")
            ),
            fashion!(
                "t10k-labels-idx1-ubyte.gz",
                Check::Sha256("0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34")
            ),
        ],
    },
    FetchSet {
        name: "cifar10",
        also: &[],
        about: "animals and vehicles, 50,000 + 10,000 of 32 × 32 pixels in colour",
        folders: &["cifar10", "cifar-10-batches-bin"],
        downloads: &[Download {
            urls: &["https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"],
            limit: 256 * MIB,
            packing: Packing::Tar,
            files: &[
                batch("data_batch_1.bin", "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"),
                batch("data_batch_2.bin", "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"),
                batch("data_batch_3.bin", "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"),
                batch("data_batch_4.bin", "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"),
                batch("data_batch_5.bin", "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"),
                batch("test_batch.bin", "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"),
            ],
        }],
    },
    FetchSet {
        name: "imdb-text",
        also: &[],
        about: "film reviews, 25,000 + 25,000, for or against",
        folders: &["imdb-text"],
        downloads: &[Download {
            urls: &["https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz"],
            limit: 128 * MIB,
            packing: Packing::Reviews,
            files: &[
                reviews("train.jsonl", "2660b5f41d92414f7d89d583a19ab43a548089661a83c5a254c72b8fdaebcf97"),
                reviews("test.jsonl", "8fd0edaf99cf0f8a1e601773b6dba48c7f560671cb9ab8b301b6e73205c8aac6"),
            ],
        }],
    },
    FetchSet {
        name: "imdb-graph",
        also: &[],
        about: "who played with whom, 1,000 graphs, action or romance",
        folders: &["imdb-graph", ""],
        downloads: &[Download {
            urls: &[
                "https://www.chrsmrrs.com/graphkerneldatasets/IMDB-BINARY.zip",
                "https://ls11-www.cs.tu-dortmund.de/people/morris/graphkerneldatasets/IMDB-BINARY.zip",
            ],
            limit: 16 * MIB,
            packing: Packing::AsIs,
            files: &[Wanted {
                name: "IMDB-BINARY.zip",
                limit: 16 * MIB,
                // By its members: archives of the same files circulate with other dates.
                check: Check::Members(&[
                    ("IMDB-BINARY_A.txt", "23c8964bab82f81469271186d721131714a265d0ca8c44ae048118da1d0c4092"),
                    (
                        "IMDB-BINARY_graph_indicator.txt",
                        "415cc3ba25b8c647dcf34d3de034f675ee070616f3b803be939cb26773489f26",
                    ),
                    (
                        "IMDB-BINARY_graph_labels.txt",
                        "63a44411fd6342b9c4429828c16e144a2a11ef5244e25bb60f0ffa8b3ee2ffce",
                    ),
                ]),
            }],
        }],
    },
    uci_table!(
        "protein",
        &[],
        "decoys of proteins and how far they are from the true structure, 45,730 rows",
        "CASP.csv",
        Check::Sha256("712d2759f8113622a3ba93a47e451397147df946111f6ffdd8c655385d564aef"),
        "https://archive.ics.uci.edu/static/public/265/physicochemical+properties+of+protein+tertiary+structure.zip"
    ),
    uci_table!(
        "pm25",
        &[],
        "fine dust and weather in Beijing, 43,824 hours",
        "PRSA_data_2010.1.1-2014.12.31.csv",
        Check::Sha256("4127f868775e31b3956522adc0ec75af8937dde6a3896e8beed3a376c6d27f1c"),
        "https://archive.ics.uci.edu/static/public/381/beijing+pm2+5+data.zip"
    ),
    uci_table!(
        "energy",
        &[],
        "electricity used in one house, 19,735 times ten minutes",
        "energydata_complete.csv",
        Check::Sha256("2820bf712ad0275cb18b85a05250926100d8e65ebb9f4d2d016ca91ea152a25d"),
        "https://archive.ics.uci.edu/static/public/374/appliances+energy+prediction.zip"
    ),
    uci_table!(
        "bike-hour",
        &[("bike-hour-clean", "bike-hour without the two columns whose sum is the target")],
        "bicycles rented, 17,379 hours",
        "hour.csv",
        Check::Sha256("e03de4ee4ef4dc376ac6e04bf829673c6269e8eba5c60fa121640fa2f829504f"),
        "https://archive.ics.uci.edu/static/public/275/bike+sharing+dataset.zip"
    ),
    uci_table!(
        "query",
        &[],
        "counts of crimes in rectangles of a map, 200,000 rows",
        "Range-Queries-Aggregates.csv",
        Check::Table { header: &["", "x", "y", "x_range", "y_range", "count", "sum_", "avg"], rows: 200_000 },
        "https://archive.ics.uci.edu/static/public/493/query+analytics+workloads+dataset.zip",
        "https://archive.ics.uci.edu/ml/machine-learning-databases/00493/datasets.zip"
    ),
    small("airfoil", "noise of wing sections in a wind tunnel, 1,503 rows"),
    small("concrete", "strength of concrete, 1,030 mixtures"),
    small("energy-efficiency", "heating that simulated buildings need, 768 of them"),
    small("housing", "prices of houses in Boston, 506 districts"),
    small("parkinsons", "voices of people with Parkinson's disease and how ill they are, 5,875 recordings"),
    small("solar", "flares of regions of the sun, 1,066 rows"),
    small("wine", "red wines and what tasters think of them, 1,599 rows"),
    small("yacht", "resistance of sailing yachts in a towing tank, 308 rows"),
];
