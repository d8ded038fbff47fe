package command

import (
	"errors"
	"slices"
	"strings"
)

var errPermissions = errors.New("/permissions shows the rules; /permissions allow|ask|deny RULE [local|project|user|session] adds one, such as Bash(go test *)")

// permissions shows the rules or adds one. The scope is the last word; what
// stands before it is the rule, which may hold blanks.
func permissions(p Ports, args string) (string, error) {
	if args == "" {
		return ruleTable(p.Rules()), nil
	}
	list, rule, _ := strings.Cut(args, " ")
	if !slices.Contains([]string{"allow", "ask", "deny"}, list) {
		return "", errPermissions
	}
	scope := "local"
	if i := strings.LastIndexByte(rule, ' '); i >= 0 && slices.Contains([]string{"local", "project", "user", "session"}, rule[i+1:]) {
		rule, scope = rule[:i], rule[i+1:]
	}
	if rule = strings.TrimSpace(rule); rule == "" {
		return "", errPermissions
	}
	where, err := p.AddRule(list, rule, scope)
	if err != nil {
		return "", err
	}
	return list + " " + rule + " is in force now, and written to " + where + ".", nil
}

func ruleTable(rules []string) string {
	if len(rules) == 0 {
		return "No permission rules."
	}
	return "- " + strings.Join(rules, "\n- ")
}
