using FastPort.Conformance.Adapters;
using FastPort.Conformance.Cases;
using Xunit;

namespace FastPort.Conformance.Tests;

/// <summary>Plays all cases with one client over one transport.</summary>
internal static class Suite
{
    /// <summary>The cases of conformance/cases.</summary>
    public static IReadOnlyList<ConformanceCase> Cases { get; } = CaseFolder.Read(CaseFolder.Default);

    /// <summary>Asserts that every case passes, or is one of those that the client is known to lack.</summary>
    /// <param name="transport">The transport.</param>
    /// <param name="start">Starts the adapter.</param>
    /// <param name="lacks">The capabilities whose cases are skipped.</param>
    public static async Task PassesAsync(string transport, Func<IAdapter> start, params string[] lacks)
    {
        List<CaseResult> results = [];
        await using (var run = new SuiteRun(transport, start))
        {
            foreach (ConformanceCase one in Cases)
            {
                results.Add(await run.PlayAsync(one));
            }
        }

        string[] failures =
        [
            .. results.Where(static result => result.Outcome == Outcome.Failed)
                .Select(static result => string.Join("\n  ", Tap.Describe(result).Prepend(result.Case.Name))),
        ];
        Assert.True(failures.Length == 0, $"{failures.Length} of {results.Count} cases have failed.\n{string.Join("\n\n", failures)}");
        Assert.Equal(
            Cases.Where(one => one.Needs.Intersect(lacks).Any()).Select(static one => one.Name),
            results.Where(static result => result.Outcome == Outcome.Skipped).Select(static result => result.Case.Name));
    }
}
