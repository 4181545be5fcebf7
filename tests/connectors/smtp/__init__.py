"""The connector for mail over SMTP."""
