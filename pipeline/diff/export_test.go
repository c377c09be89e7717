package diff

// The tests are in package diff_test: they import package pipeline, which imports this package. These names are for them.

const PartitionBytes = partitionBytes

var (
	Compare    = (*Change).compare
	KindOf     = kindOf
	Partitions = partitions
)
