package wiring

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/action/team"
	"github.com/hew-agent/hew/internal/state/settings"
)

// TeamStatus is a team as people see it.
type TeamStatus struct {
	Name    string       `json:"name"`
	Dir     string       `json:"dir"`
	Tasks   string       `json:"tasksDir"`
	Members []TeamMember `json:"members"`
	Items   []TeamTask   `json:"tasks"`
}

// TeamMember is one member and whether its process lives.
type TeamMember struct {
	Name    string `json:"name"`
	Type    string `json:"agentType"`
	Running bool   `json:"running"`
	Unread  int    `json:"unread"`
}

// TeamTask is one task.
type TeamTask struct {
	ID        string   `json:"id"`
	Subject   string   `json:"subject"`
	Status    string   `json:"status"`
	Owner     string   `json:"owner,omitempty"`
	BlockedBy []string `json:"blockedBy"`
	// OwnerGone tells that the process of the owner has ended: the next change of
	// the list opens the task again.
	OwnerGone bool `json:"ownerGone,omitempty"`
}

// Teams reads the teams of this user, or the one that is named. It changes nothing.
func Teams(o Options, name string) ([]TeamStatus, error) {
	home, err := settings.FindHome(o.getenv, o.Cwd)
	if err != nil {
		return nil, err
	}
	names := []string{name}
	if name == "" {
		if names, err = teamNames(home.Dir); err != nil {
			return nil, err
		}
	} else if why := team.CheckName(name); why != "" {
		return nil, fmt.Errorf("there is no team %q: %s", name, why)
	}
	out := []TeamStatus{}
	for _, n := range names {
		st, err := teamStatus(team.Folder{Home: home.Dir, Name: n})
		if err != nil {
			return nil, err
		}
		if name != "" && len(st.Members) == 0 && len(st.Items) == 0 {
			return nil, fmt.Errorf("there is no team %s; hew team status lists those that there are", n)
		}
		if name != "" || len(st.Members) > 0 {
			out = append(out, st)
		}
	}
	return out, nil
}

func teamNames(home string) ([]string, error) {
	list, err := os.ReadDir(filepath.Join(home, "teams"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the teams: %w", err)
	}
	var names []string
	for _, e := range list {
		if e.IsDir() && team.CheckName(e.Name()) == "" {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func teamStatus(f team.Folder) (TeamStatus, error) {
	st := TeamStatus{Name: f.Name, Dir: f.Dir(), Tasks: f.Tasks(), Members: []TeamMember{}, Items: []TeamTask{}}
	c, err := f.Config()
	if err != nil {
		return st, err
	}
	for _, m := range c.Members {
		unread, err := f.Waiting(m.Name)
		if err != nil {
			return st, err
		}
		st.Members = append(st.Members, TeamMember{m.Name, m.AgentType, f.Running(m.Name), unread})
	}
	slices.SortFunc(st.Members, func(a, b TeamMember) int { return cmp.Compare(a.Name, b.Name) })
	all, err := task.Board{Dir: f.Tasks()}.Load()
	if err != nil {
		return st, err
	}
	for _, t := range all.Sorted() {
		st.Items = append(st.Items, TeamTask{
			ID: t.ID, Subject: t.Subject, Status: t.Status, Owner: t.Owner, BlockedBy: t.Waiting(all),
			OwnerGone: t.Status == task.Claimed && f.Gone(t.Owner),
		})
	}
	return st, nil
}
