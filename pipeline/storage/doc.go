// Package storage reads and writes files where they are: in the file system of the machine, or in object storage, whose
// paths are URLs such as s3://bucket/key.
//
// The functions of the package take paths of both. [Objects] is object storage, as a value: the buckets of the URLs of a run.
// A context carries it ([With]), so that several runs of a process have buckets of one name at several places. It has the
// methods that packages reader and writer call.
//
// [Bucket] is what an object storage implements; [Register] adds one. Above it, sources and drafts are written once. An
// object is read in ranges: a cut connection continues at its offset, and all ranges are of the version of the object that was
// opened. An object is written as a draft: a reader sees the whole object or none, and a draft is published only if the object
// at its path is the same as when the draft began, so that the second of two writers fails. What they promise is the suite of
// suite_test.go, which files, buckets in memory, S3, Google Cloud Storage and Azure Blob Storage pass.
//
// Objects cannot be locked, appended to, or renamed. The files that a run needs beside its output for that (the lock,
// the journal, the status, the copy of standard input and the store of answers) are in a folder of the machine: see
// [Local].
//
// Credentials, the region and the endpoint come from the chain of the cloud's own tools: for S3 the environment
// (AWS_ACCESS_KEY_ID, AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL and others), the files in ~/.aws, and the metadata
// service of the machine. A URL may end in the parameters region, endpoint, profile and use_path_style, which count for all
// paths in the bucket that the same Objects has.
//
// With the build tag clouds there are also gs://bucket/key (Google Cloud Storage) and azblob://container/key (Azure Blob
// Storage), by way of gocloud.dev/blob. Their versions are the generation and the ETag.
package storage
