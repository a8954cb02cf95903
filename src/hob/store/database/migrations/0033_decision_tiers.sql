-- How weighty a call was when it was judged; NULL: it was judged before, or could not be read.
ALTER TABLE policy_decisions ADD COLUMN tier INTEGER;
