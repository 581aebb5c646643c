using System.Text;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle.Ends;

/// <summary>
/// Sessions end as recorded in <c>courses.txt</c>, which contains the course of each seed. After an intended change, name the differences
/// in the commit and record the courses again: set the environment variable FASTPORT_RECORD to the file's path and run this test.
/// </summary>
public sealed class SessionEndTests
{
    private const int Seeds = 1000;

    // The seeds after it have calls from other threads than the loop's.
    private const int LastOnLoop = 600;

    /// <summary>
    /// The table of docs/architecture.md ("The end of a session"), by the events of the courses. Moves that follow at once are included:
    /// from Leaving without a request in flight to Finishing, from Stopping before Hello to Finishing, and from Finishing without work
    /// under way to Closed. What a call from another thread posts to the loop moves the session, not the call. An event that is not listed
    /// moves no session.
    /// </summary>
    private static readonly Dictionary<string, string> Table = new()
    {
        ["leave"] = "Open>Closed Open>Finishing Open>Leaving",
        ["close"] = "Leaving>Finishing Leaving>Stopping Open>Closed Open>Finishing Open>Stopping",
        ["server stops"] = "Leaving>Finishing Leaving>Stopping Open>Closed Open>Finishing Open>Stopping",
        ["peer says Goodbye"] = "Open>Closed Open>Finishing Open>Leaving Stopping>Closed Stopping>Finishing",
        ["peer ends"] = "Leaving>Finishing Open>Closed Open>Finishing Stopping>Closed Stopping>Finishing",
        ["peer ends within a frame"] = "Finishing>Closed Leaving>Closed Open>Closed Stopping>Closed",
        ["kick"] = "Finishing>Closed Open>Closed Stopping>Closed",
        ["abort"] = "Finishing>Closed Open>Closed Stopping>Closed",
        ["oldest answers"] = "Finishing>Closed",
        ["peer replies"] = "Leaving>Closed Leaving>Finishing",
        ["200 ms"] = "Stopping>Closed Stopping>Finishing",
        ["40 seconds"] = "Finishing>Closed Leaving>Closed Leaving>Finishing Open>Closed Stopping>Closed Stopping>Finishing",
        ["newest answers"] = "Finishing>Closed",
        ["held requests end"] = "Finishing>Closed",
        ["100 ms"] = "Stopping>Closed",
        ["a second"] = "Stopping>Closed Stopping>Finishing",
        ["posted"] = "Finishing>Closed Leaving>Closed Open>Closed Open>Finishing Open>Leaving Open>Stopping Stopping>Closed",
        ["two minutes"] = "Open>Closed Stopping>Closed",
    };

    private static readonly Lazy<(string Text, HashSet<EndMove> Moves)> _recorded = new(Courses);

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

    private static (string Text, HashSet<EndMove> Moves) Courses()
    {
        HashSet<EndMove> moves = [];
        var courses = new StringBuilder();
        for (int seed = 1; seed <= Seeds; seed++)
        {
            using var scenario = new SessionScenario(seed, hasThreads: seed > LastOnLoop);
            courses.Append(seed).Append(' ').Append(scenario.Run()).Append('\n');
            moves.UnionWith(scenario.Moves);
        }

        return (courses.ToString(), moves);
    }
}
