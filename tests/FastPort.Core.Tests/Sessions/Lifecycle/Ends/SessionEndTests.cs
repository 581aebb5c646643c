using System.Text;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle.Ends;

/// <summary>
/// Sessions end as they were recorded to: <c>courses.txt</c> has the course of each seed. Whoever changes how a session ends reads the
/// differences, names the intended ones in the change log, and records anew with the environment variable FASTPORT_RECORD set to the
/// file's path.
/// </summary>
public sealed class SessionEndTests
{
    private const int Seeds = 600;

    [Fact]
    public void Random_orders_of_events_have_their_recorded_courses()
    {
        string courses = Courses();
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

    private static string Courses()
    {
        var courses = new StringBuilder();
        for (int seed = 1; seed <= Seeds; seed++)
        {
            using var scenario = new SessionScenario(seed);
            courses.Append(seed).Append(' ').Append(scenario.Run()).Append('\n');
        }

        return courses.ToString();
    }
}
