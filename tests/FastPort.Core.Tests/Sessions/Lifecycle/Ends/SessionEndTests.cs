using System.Text;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle.Ends;

/// <summary>
/// Sessions end as recorded in <c>courses.txt</c>, which contains the course of each seed. After an intended change, name the differences
/// in the commit and record the courses again: set the environment variable FASTPORT_RECORD to the file's path and run this test.
/// </summary>
public sealed class SessionEndTests
{
    private const int Seeds = 600;

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

    /// <summary>
    /// The table of docs/architecture.md ("The end of a session"), with what follows at once: Leaving without a request in flight, and
    /// Stopping that no peer is told of, are Finishing; Finishing without work under way is Closed. Each row occurs, and nothing else does.
    /// </summary>
    [Theory]
    [InlineData("leave", "Open>Leaving Open>Finishing Open>Closed")]
    [InlineData("close", "Open>Stopping Open>Finishing Open>Closed Leaving>Stopping Leaving>Finishing")]
    [InlineData("server stops", "Open>Stopping Open>Finishing Open>Closed Leaving>Stopping")]
    [InlineData("peer says Goodbye", "Open>Leaving Open>Finishing Open>Closed Stopping>Finishing Stopping>Closed")]
    [InlineData("peer ends", "Open>Finishing Open>Closed Stopping>Finishing Stopping>Closed")]
    [InlineData("peer ends within a frame", "Open>Closed Leaving>Closed Stopping>Closed Finishing>Closed")]
    [InlineData("kick", "Open>Closed Stopping>Closed Finishing>Closed")]
    [InlineData("abort", "Open>Closed Stopping>Closed Finishing>Closed")]
    [InlineData("oldest answers", "Finishing>Closed")]
    [InlineData("peer replies", "Leaving>Finishing")]
    [InlineData("200 ms", "Stopping>Finishing Stopping>Closed")]
    [InlineData("40 seconds", "Open>Closed Leaving>Finishing Leaving>Closed Stopping>Finishing Stopping>Closed Finishing>Closed")]
    [InlineData("inline request", "")]
    [InlineData("queued request", "")]
    [InlineData("own request", "")]
    [InlineData("push", "")]
    public void Sessions_move_as_the_table_of_states_says(string cause, string moves) =>
        Assert.Equal(
            moves.Split(' ', StringSplitOptions.RemoveEmptyEntries).Order(),
            _recorded.Value.Moves.Where(move => move.Cause == cause).Select(static move => $"{move.From}>{move.To}").Distinct().Order());

    private static (string Text, HashSet<EndMove> Moves) Courses()
    {
        HashSet<EndMove> moves = [];
        var courses = new StringBuilder();
        for (int seed = 1; seed <= Seeds; seed++)
        {
            using var scenario = new SessionScenario(seed);
            courses.Append(seed).Append(' ').Append(scenario.Run()).Append('\n');
            moves.UnionWith(scenario.Moves);
        }

        return (courses.ToString(), moves);
    }
}
