package shell

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// State is the state of a Job.
type State string

const (
	Pending   State = "pending"   // made, not yet started
	Running   State = "running"   //
	Completed State = "completed" // exit code 0
	Failed    State = "failed"    // any other exit code, or not started
	Killed    State = "killed"    // ended by hew: see JobStatus.Cause
)

// Final reports whether nothing can follow s.
func (s State) Final() bool { return s == Completed || s == Failed || s == Killed }

// To is the one place that knows which changes of state exist; any other is an
// error, and nothing leaves a final state.
func (s State) To(next State) (State, error) {
	legal := false
	switch s {
	case Pending:
		legal = next == Running || next == Failed || next == Killed
	case Running:
		legal = next.Final()
	case Completed, Failed, Killed:
	}
	if !legal {
		return s, fmt.Errorf("background job cannot go from %q to %q", s, next)
	}
	return next, nil
}

// JobStatus is a Job at one moment.
type JobStatus struct {
	ID         string
	Text       string // the command
	State      State
	Cause      Cause // why it was killed
	Started    time.Time
	Ended      time.Time // zero before a final state
	ExitCode   int       // meaningful when completed or failed
	Signal     string
	OutputFile string
	Size       int64 // bytes in OutputFile
	Left       []Process
	OutputErr  error // output was lost on its way to the file
}

// Job is a command in the background. It is safe for concurrent use.
type Job struct {
	clock Clock
	proc  *process // set before the Job is visible to anybody
	done  chan struct{}

	mu     sync.Mutex
	status JobStatus
}

func newJob(id, text string, clock Clock) *Job {
	return &Job{
		clock: clock, done: make(chan struct{}),
		status: JobStatus{ID: id, Text: text, State: Pending, Started: clock.Now()},
	}
}

// ID is the name of the job.
func (j *Job) ID() string { return j.status.ID }

// Done is closed when the job is in a final state.
func (j *Job) Done() <-chan struct{} { return j.done }

// Status is the present state.
func (j *Job) Status() JobStatus {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.status
	if !s.State.Final() {
		s.Size = j.proc.stdout.size()
	}
	return s
}

// Wait returns the final status, or the present one with an error when ctx
// ends first.
func (j *Job) Wait(ctx context.Context) (JobStatus, error) {
	select {
	case <-j.done:
		return j.Status(), nil
	case <-ctx.Done():
		return j.Status(), context.Cause(ctx)
	}
}

// Stop ends the job's whole process tree and returns when it is gone, within
// about two seconds. Stopping a finished job ends only what it left running.
func (j *Job) Stop() error {
	if err := j.proc.kill(CauseStopped); err != nil {
		return fmt.Errorf("stop background job %s: %w", j.ID(), err)
	}
	<-j.done
	return nil
}

// Output reads what the job wrote, from a byte offset, at most limit bytes.
func (j *Job) Output(offset int64, limit int) (Chunk, error) {
	final := j.Status().State.Final() // asked first: what is read afterwards is then all
	c, err := ReadChunk(j.proc.outPath, offset, limit)
	c.Final = final
	return c, err
}

// adopt makes a started process a visible, running job.
func (r *Runner) adopt(j *Job, p *process, limit time.Duration) {
	j.proc = p
	j.move(Running, func(s *JobStatus) { s.OutputFile = p.outPath })
	expired := r.after(limit)
	r.mu.Lock()
	r.jobs = append(r.jobs, j)
	closed := r.closed
	if !closed {
		r.wg.Go(func() { j.follow(expired) })
	}
	r.mu.Unlock()
	if closed { // Close ends the process, and counts no new goroutines
		j.follow(expired)
	}
}

// follow takes the job to its final state.
func (j *Job) follow(expired <-chan time.Time) {
	defer close(j.done)
	p := j.proc
	select {
	case <-p.exited:
	case <-p.abandoned:
	case <-expired:
		_ = p.kill(CauseTimeout) // a failure abandons the process: the job is killed all the same
	}
	cause := p.endCause()
	next := Completed
	switch {
	case cause != CauseNone || !p.ended():
		next = Killed
	case p.code != 0:
		next = Failed
	}
	j.move(next, func(s *JobStatus) {
		s.Cause, s.Size, s.OutputErr, s.Ended = cause, p.stdout.size(), p.stdout.lost(), j.clock.Now()
		if p.ended() {
			s.ExitCode, s.Signal, s.Left = p.code, p.signal, p.left
		}
		if next == Killed {
			s.Left = nil
		}
	})
}

func (j *Job) move(next State, fill func(*JobStatus)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s, err := j.status.State.To(next)
	if err != nil {
		panic(err) // a bug here: the moves above are all there are
	}
	j.status.State = s
	fill(&j.status)
}

// Jobs lists the jobs in the order of their start, finished ones too.
func (r *Runner) Jobs() []JobStatus {
	r.mu.Lock()
	jobs := slices.Clone(r.jobs)
	r.mu.Unlock()
	list := make([]JobStatus, 0, len(jobs))
	for _, j := range jobs {
		list = append(list, j.Status())
	}
	return list
}

// Job finds a job by its id.
func (r *Runner) Job(id string) (*Job, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.jobs {
		if j.ID() == id {
			return j, true
		}
	}
	return nil, false
}

// Stop ends a job; an unknown id is an error, a finished job is not.
func (r *Runner) Stop(id string) error {
	j, ok := r.Job(id)
	if !ok {
		return fmt.Errorf("no background job has the id %q", id)
	}
	return j.Stop()
}
