"""Runs the queries of fleet.sql on the inventories of one day, with Spark (pip install pyspark, and Java 17).

    spark-submit fleet_spark.py FOLDER/day=DAY

Writes a table in CSV for each question. FOLDER is wherever Spark can read: a folder, s3a://…, hdfs://….
"""

import csv, os, sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, regexp_extract

spark = SparkSession.builder.appName("fleet").getOrCreate()
# A cache may be called '007'.
spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
spark.read.json(
    sys.argv[1], schema="host STRING, mime STRING, status INT, size BIGINT, stored STRING, freshness STRING",
    mode="FAILFAST",
).withColumn(
    "machine", regexp_extract(col("_metadata.file_name"), r"^(.*)\.ndjson\.gz$", 1)
).cache().createOrReplaceTempView("entries")
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "fleet.sql"), encoding="utf-8") as file:
    questions = file.read().split(";")[:-1]
output = csv.writer(sys.stdout, lineterminator="\n")
for question in questions:
    answer = spark.sql(question)
    output.writerow(answer.columns)
    output.writerows(answer.collect())
spark.stop()
