package account

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// engine is a scheduler that tells a task its index in the environment.
type engine struct {
	index string // the variable with the index of the task
	count string // the variable with the number of tasks
	first string // the variable with the index of the first task; "" if that is 0
	step  string // the variable with the distance of two indexes; "" if that is 1
}

// The generic variables. shardCountVariable also serves engines without a variable for the count.
const (
	shardIndexVariable = "BULKCAT_SHARD_INDEX"
	shardCountVariable = "BULKCAT_SHARD_COUNT"
)

var engines = []engine{
	{index: shardIndexVariable, count: shardCountVariable},
	{index: "SLURM_ARRAY_TASK_ID", count: "SLURM_ARRAY_TASK_COUNT", first: "SLURM_ARRAY_TASK_MIN", step: "SLURM_ARRAY_TASK_STEP"},
	{index: "JOB_COMPLETION_INDEX"}, // Kubernetes
	{index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE"},
	{index: "CLOUD_RUN_TASK_INDEX", count: "CLOUD_RUN_TASK_COUNT"},
}

// ShardFromEnvironment returns the shard of a task of a Slurm array, a Kubernetes Indexed Job, an AWS Batch array or a Cloud
// Run job. For other schedulers, set BULKCAT_SHARD_INDEX, from 0, and BULKCAT_SHARD_COUNT. The count is also needed if the
// scheduler tells none, as Kubernetes. BULKCAT_SHARD_INDEX has priority over the index of a scheduler. getenv is os.Getenv.
func ShardFromEnvironment(getenv func(string) string) (Shard, error) {
	var found []engine
	for _, e := range engines {
		if text := getenv(e.index); text != "" {
			found = append(found, e)
		}
	}
	problem := "no task of an array"
	if len(found) > 0 {
		if len(found) == 1 || found[0].index == shardIndexVariable {
			return found[0].shard(getenv)
		}
		var names []string
		for _, e := range found {
			names = append(names, e.index)
		}
		problem = fmt.Sprintf("tasks of several schedulers (%s)", strings.Join(names, ", "))
	}
	return Shard{}, fmt.Errorf("the environment names %s: set %s, from 0, and %s, or name the shard, such as 3/16", problem, shardIndexVariable, shardCountVariable)
}

func (e engine) shard(getenv func(string) string) (Shard, error) {
	var errs []error
	number := func(variable string, otherwise int) int {
		text := getenv(variable)
		if text == "" {
			return otherwise
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			errs = append(errs, fmt.Errorf("%s is %q, not a number from 0", variable, text))
		}
		return n
	}
	index, first, step := number(e.index, 0), number(e.first, 0), number(e.step, 1)
	count, generic := number(e.count, 0), number(shardCountVariable, 0)
	if err := errors.Join(errs...); err != nil {
		return Shard{}, err
	}
	switch {
	case count == 0 && generic == 0:
		return Shard{}, fmt.Errorf("%s is %d, but the number of shards is not known: set %s", e.index, index, shardCountVariable)
	case count == 0:
		count = generic
	case generic != 0 && generic != count:
		return Shard{}, fmt.Errorf("%s is %d and %s is %d: a task that is started again alone is not told the count of the array, so name its shard, such as 3/%d", e.count, count, shardCountVariable, generic, generic)
	}
	s := Shard{Number: (index-first)/max(1, step) + 1, Count: count}
	if index < first || (index-first)%max(1, step) != 0 || s.Number > count {
		return Shard{}, fmt.Errorf("%s is %d, which is not one of %d indexes from %d: the indexes of the array must follow each other; or name the shard, such as 3/16", e.index, index, count, first)
	}
	return s, s.Check()
}
