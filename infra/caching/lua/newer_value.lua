-- Loaded before the scripts that use it. Whether an entry "version:…" is newer than a version.
-- An entry without a version is not.
local function is_newer(entry, version)
  local stored = entry and tonumber(string.match(entry, '^(%d+):'))
  return stored and stored > tonumber(version)
end

