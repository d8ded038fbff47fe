// Package engine holds one conversation: history, steering queue, budgets, mode, persistence, spawn.
package engine
