-- Where a source is fetched from, when that is not what may be shown: an address with a key in it.
ALTER TABLE sources ADD COLUMN fetch_address TEXT;
