-- Up Migration

-- The files of a long or many-sided result, as its message tells of them; NULL: none were written.
ALTER TABLE background_calls
  ADD COLUMN result_files jsonb,
  ADD CONSTRAINT background_calls_files_of_a_result
    CHECK (result_files IS NULL OR result_bytes IS NOT NULL);

-- Down Migration

ALTER TABLE background_calls DROP COLUMN result_files;
