"""The AWS Glue Data Catalog as a connector."""
