// Package storage reads and writes files in the file system of the machine and in object storage, whose paths are URLs such as
// s3://bucket/key.
//
// The functions of the package take both kinds of paths. [Objects] has the buckets of the URLs of a run, and the methods of
// object storage that packages reader and writer call. A context carries the Objects ([With]), so that runs of one process can
// use buckets with one name at several endpoints.
//
// [Bucket] is the interface of an object storage; [Register] adds an implementation. Reading and writing is common to all
// buckets. An object is read in ranges: a cut connection continues at its offset, and all ranges are of the version of the
// object that was opened. An object is written as a draft: a reader sees the whole object or none. A draft is published only if
// the object at its path has not changed since the draft began, so that the second of two writers fails. suite_test.go checks
// these promises with files, buckets in memory, S3, Google Cloud Storage and Azure Blob Storage.
//
// Objects cannot be locked, appended to, or renamed. So the lock, the journal, the status, the copy of standard input and the
// store of answers of a run are in a folder of the machine: see [Local].
//
// Credentials, the region and the endpoint come from the chain of the cloud's own tools: for S3 the environment
// (AWS_ACCESS_KEY_ID, AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL and others), the files in ~/.aws, and the metadata
// service of the machine. A URL may end in the parameters region, endpoint, profile and use_path_style, which apply to all paths
// of the same Objects in the bucket.
//
// The build tag clouds adds gs://bucket/key (Google Cloud Storage) and azblob://container/key (Azure Blob Storage) by
// gocloud.dev/blob. The version of an object is its generation in Google Cloud Storage, and its ETag in Azure Blob Storage.
package storage
