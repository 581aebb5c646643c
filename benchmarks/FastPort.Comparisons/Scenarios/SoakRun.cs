using System.Globalization;
using System.Text.Json;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>
/// What the two processes of a soak have said. Each process's lines are taken by one task; the two share nothing but this object's parts.
/// </summary>
internal sealed class SoakRun
{
    private readonly Dictionary<string, SoakMemory> _memory = new(StringComparer.Ordinal)
    {
        ["server"] = new("server"),
        ["loads"] = new("loads"),
    };
    private readonly List<JsonElement> _accounts = [];
    private JsonElement? _counters;

    /// <summary>Takes a process's lines until it ends.</summary>
    public async Task HearAsync(string process, IAsyncEnumerable<string> lines, Action<string> progress)
    {
        await foreach (string line in lines)
        {
            if (!line.StartsWith('{'))
            {
                progress($"soak: {process}: {line}");
                continue;
            }

            JsonElement said = JsonDocument.Parse(line).RootElement;
            switch (said.GetProperty("kind").GetString())
            {
                case "memory":
                    _memory[process].Add(said.GetProperty("rss_kb").GetInt64(), said.GetProperty("heap_bytes").GetInt64());
                    break;
                case "account":
                    _accounts.Add(said);
                    break;
                default:
                    _counters = said;
                    break;
            }
        }
    }

    /// <summary>Everything that is not as it should be.</summary>
    /// <param name="zeroCounters">Counters of the server that have to be 0.</param>
    public IEnumerable<string> Deviations(IReadOnlyList<string> zeroCounters)
    {
        if (_accounts.Count == 0)
        {
            yield return "no load has given an account";
        }

        foreach (JsonElement account in _accounts)
        {
            if (account.GetProperty("deviation_count").GetInt64() > 0)
            {
                yield return $"{account.GetProperty("load").GetString()}: {account.GetProperty("deviation_count").GetInt64()} "
                    + $"deviations: {account.GetProperty("deviations")}";
            }

            if (account.GetProperty("arrived").GetInt64() == 0)
            {
                yield return $"{account.GetProperty("load").GetString()}: nothing has arrived";
            }
        }

        if (_counters is not { } counters)
        {
            yield return "the server has not printed its counters";
        }
        else
        {
            foreach (string counter in zeroCounters.Where(counter => counters.GetProperty(counter).GetInt64() != 0))
            {
                yield return $"the server's {counter} is {counters.GetProperty(counter).GetInt64()} instead of 0";
            }
        }

        foreach (string deviation in _memory.Values.SelectMany(memory => memory.Deviations()))
        {
            yield return deviation;
        }
    }

    /// <summary>The accounts, a row a load.</summary>
    public ReportTable Accounts() => new(
        ["load", "verdict", "messages sent", "arrived", "lost with a connection it cut"],
        [
            .. _accounts.Select(account => (IReadOnlyList<string>)
            [
                account.GetProperty("load").GetString() ?? "",
                account.GetProperty("deviation_count").GetInt64() == 0 ? "exact" : "deviates",
                Text(account, "sent"),
                Text(account, "arrived"),
                Text(account, "lost"),
            ]),
        ]);

    /// <summary>The memory of both processes.</summary>
    public ReportTable Memory() => new(
        ["process", "verdict", "samples", "RSS MB: second quarter", "last quarter", "managed heap MB: second quarter", "last quarter"],
        [.. _memory.Values.Select(memory => memory.Row())]);

    private static string Text(JsonElement account, string field) =>
        account.GetProperty(field).GetInt64().ToString("N0", CultureInfo.InvariantCulture);
}
