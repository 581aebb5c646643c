using System.Globalization;

namespace OpcUaPeer;

/// <summary>
/// How a load is asked for: it says "ready", and answers each line of standard input, <c>run LEAD-IN SECONDS</c>, with a line. Ends with
/// its input.
/// </summary>
internal static class RunLines
{
    /// <summary>Answers all lines.</summary>
    /// <param name="measure">A run: from the seconds of load before it and its own, the line.</param>
    public static async Task AnswerAsync(Func<double, double, Task<string>> measure)
    {
        Console.WriteLine("ready");
        await foreach (string line in InputLines.Start().ReadAllAsync())
        {
            string[] words = line.Split(' ');
            Console.WriteLine(await measure(Seconds(words[1]), Seconds(words[2])));
        }
    }

    private static double Seconds(string text) => double.Parse(text, CultureInfo.InvariantCulture);
}
