package main

import "github.com/spf13/cobra"

func verifyCmd() *cobra.Command { return &cobra.Command{Use: "verify", Hidden: true} }
