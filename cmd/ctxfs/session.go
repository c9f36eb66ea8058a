package main

import "github.com/spf13/cobra"

func sessionCmd() *cobra.Command { return &cobra.Command{Use: "session", Hidden: true} }
