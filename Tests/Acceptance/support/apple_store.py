"""Makes the database of one of Apple's stores, with no more than the program asks for."""

import os, sqlite3


def create(folder):
    """Returns a connection to a new database, which the caller fills, commits and closes."""
    database = sqlite3.connect(os.path.join(folder, "Cache.db"))
    database.executescript(
        """CREATE TABLE cfurl_cache_response(entry_ID INTEGER PRIMARY KEY AUTOINCREMENT UNIQUE,
             version INTEGER, hash_value INTEGER, storage_policy INTEGER, request_key TEXT UNIQUE,
             time_stamp NOT NULL DEFAULT CURRENT_TIMESTAMP, partition TEXT);
           CREATE TABLE cfurl_cache_blob_data(entry_ID INTEGER PRIMARY KEY, response_object BLOB,
             request_object BLOB, proto_props BLOB, user_info BLOB);
           CREATE TABLE cfurl_cache_receiver_data(entry_ID INTEGER PRIMARY KEY, isDataOnFS INTEGER,
             receiver_data BLOB);""")
    return database
