package main

import "github.com/spf13/cobra"

func spaceCmd() *cobra.Command { return &cobra.Command{Use: "space", Hidden: true} }
