-- The script of a load (bench/wrk.ts). It sends the request in the variable BENCH_REQUEST, with a new number in
-- place of #NUMBER# each time, and prints the measurements as a line of JSON.
local bytes = os.getenv('BENCH_REQUEST')
local first, last = bytes:find('#NUMBER#', 1, true)

if first then
  local head, tail, number = bytes:sub(1, first - 1), bytes:sub(last + 1), 0
  request = function()
    number = number + 1
    return ('%s%08d%s'):format(head, number, tail)
  end
else
  -- A request that stays the same is made once, and wrk never returns to this script.
  wrk.format = function() return bytes end
end

done = function(summary, latency)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(('{"answers":%d,"elapsedUs":%d,"refused":%d,"lost":%d,"loadSeconds":%f'):format(
    summary.requests, summary.duration, errors.status, lost, os.clock()))
  io.write((',"p50Us":%d,"p99Us":%d,"p999Us":%d}\n'):format(
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
