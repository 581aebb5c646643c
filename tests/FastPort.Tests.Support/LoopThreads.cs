namespace FastPort.Tests.Support;

/// <summary>
/// The threads of a process (Linux) that run event loops, known by their names. A loop that has served somebody is among them.
/// </summary>
internal static class LoopThreads
{
    public static int Count(int processId) =>
        Directory.GetDirectories($"/proc/{processId}/task")
            .Count(static task => NameOf(task).StartsWith("FastPort loop", StringComparison.Ordinal));

    private static string NameOf(string task)
    {
        try
        {
            return File.ReadAllText(Path.Combine(task, "comm"));
        }
        catch (IOException)
        {
            // It has ended meanwhile.
            return string.Empty;
        }
    }
}
