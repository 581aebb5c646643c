using System.Text;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle.Ends;

/// <summary>
/// Sessions end as recorded in <c>courses.txt</c>, which contains the course of each seed. After an intended change, name the differences
/// in the commit and record the courses again: set the environment variable FASTPORT_RECORD to the file's path and run this test.
/// </summary>
public sealed class SessionEndTests
{
    // How many seeds there are with each kind of callers, in this order.
    private static readonly (Callers Callers, int Seeds)[] Kinds =
        [(Callers.Loop, 600), (Callers.OtherThreads, 400), (Callers.OtherThreadsDuringWork, 600)];

    /// <summary>
    /// The table of docs/architecture.md ("The end of a session"), by the events of the courses. Moves that follow at once are included:
    /// from Leaving without a request in flight to Finishing, from Stopping before Hello to Finishing, and from Finishing without work
    /// under way to Closed. What a call from another thread posts to the loop moves the session, not the call; what the call itself moves
    /// counts for the event that the loop is within. An event that is not listed moves no session.
    /// </summary>
    private static readonly Dictionary<string, string> Table = new()
    {
        ["leave"] = "Open>Closed Open>Finishing Open>Leaving",
        ["close"] = "Leaving>Finishing Leaving>Stopping Open>Closed Open>Finishing Open>Stopping",
        ["server stops"] = "Leaving>Finishing Leaving>Stopping Open>Closed Open>Finishing Open>Stopping",
        ["peer says Goodbye"] = "Open>Closed Open>Finishing Open>Leaving Stopping>Closed Stopping>Finishing",
        ["peer ends"] = "Leaving>Finishing Open>Closed Open>Finishing Stopping>Closed Stopping>Finishing",
        ["peer ends within a frame"] = "Finishing>Closed Leaving>Closed Open>Closed Stopping>Closed",
        ["kick"] = "Finishing>Closed Leaving>Closed Open>Closed Stopping>Closed",
        ["abort"] = "Finishing>Closed Open>Closed Stopping>Closed",
        ["oldest answers"] = "Finishing>Closed",
        ["peer replies"] = "Leaving>Closed Leaving>Finishing",
        ["200 ms"] = "Stopping>Closed Stopping>Finishing",
        ["40 seconds"] = "Finishing>Closed Leaving>Closed Leaving>Finishing Open>Closed Stopping>Closed Stopping>Finishing",
        ["newest answers"] = "Finishing>Closed",
        ["held requests end"] = "Finishing>Closed",
        ["100 ms"] = "Stopping>Closed Stopping>Finishing",
        ["a second"] = "Stopping>Closed Stopping>Finishing",
        ["posted"] = "Finishing>Closed Leaving>Closed Leaving>Finishing Leaving>Stopping Open>Closed Open>Finishing Open>Leaving "
            + "Open>Stopping Stopping>Closed",
        ["inline request"] = "Finishing>Closed",
        ["requests in one burst"] = "Leaving>Finishing",
        ["two minutes"] = "Open>Closed Stopping>Closed",
    };

    private static readonly Lazy<(string Text, HashSet<EndMove> Moves, List<string> Broken)> _recorded = new(Courses);

    [Fact]
    public void Random_orders_of_events_have_their_recorded_courses()
    {
        string courses = _recorded.Value.Text;
        if (Environment.GetEnvironmentVariable("FASTPORT_RECORD") is { Length: > 0 } path)
        {
            File.WriteAllText(path, courses);
        }

        string recorded = File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "Sessions", "Lifecycle", "Ends", "courses.txt"));
        string[] now = courses.Split("\n\n");
        string[] before = recorded.ReplaceLineEndings("\n").Split("\n\n");
        Assert.Equal(before.Length, now.Length);
        foreach ((int i, string course) in now.Index())
        {
            Assert.Equal(before[i], course);
        }
    }

    [Fact]
    public void Sessions_move_as_the_table_of_states_says()
    {
        var moves = _recorded.Value.Moves.GroupBy(static move => move.Cause).ToDictionary(
            static group => group.Key,
            static group => string.Join(' ', group.Select(static move => $"{move.From}>{move.To}").Distinct().Order()));

        Assert.Equal(Table.OrderBy(static row => row.Key), moves.OrderBy(static row => row.Key));
    }

    /// <summary>
    /// One end with one reason, the first; each request with one answer, unless the end does not wait for it; no requests and no messages
    /// after the Goodbye.
    /// </summary>
    [Fact]
    public void Every_session_keeps_the_rules_of_the_end() =>
        Assert.True(_recorded.Value.Broken.Count == 0, string.Join('\n', _recorded.Value.Broken));

    private static (string Text, HashSet<EndMove> Moves, List<string> Broken) Courses()
    {
        HashSet<EndMove> moves = [];
        List<string> broken = [];
        var courses = new StringBuilder();
        int seed = 0;
        foreach (Callers callers in Kinds.SelectMany(static kind => Enumerable.Repeat(kind.Callers, kind.Seeds)))
        {
            seed++;
            using var scenario = new SessionScenario(seed, callers);
            courses.Append(seed).Append(' ').Append(scenario.Run()).Append('\n');
            moves.UnionWith(scenario.Moves);
            broken.AddRange(scenario.Broken.Select(rule => $"{seed}: {rule}"));
        }

        return (courses.ToString(), moves, broken);
    }
}
