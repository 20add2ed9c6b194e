"""What is on the disk: checkpoints, the journals behind them, result files."""
