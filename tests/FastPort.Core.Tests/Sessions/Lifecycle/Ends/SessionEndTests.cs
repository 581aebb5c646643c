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
