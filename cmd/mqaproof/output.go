package main

import (
	"encoding/json"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
)

// newTable is a plain table for terminals and pipes.
func newTable(head ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	t.SetStyle(style)
	t.Style().Format.Header = 0
	t.AppendHeader(table.Row(head))
	return t
}

func printJSON(c *cobra.Command, v any) error {
	e := json.NewEncoder(c.OutOrStdout())
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
