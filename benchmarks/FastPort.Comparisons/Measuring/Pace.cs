using System.Globalization;

namespace FastPort.Comparisons.Measuring;

/// <summary>
/// How much of a run is done, and how long the rest takes if it goes on like this. Scenarios count alike, whatever their length.
/// </summary>
/// <param name="time">The clock.</param>
/// <param name="scenarios">How many scenarios are run.</param>
internal sealed class Pace(TimeProvider time, int scenarios)
{
    private readonly long _begun = time.GetTimestamp();
    private int _ended;

    /// <summary>A scenario has ended.</summary>
    public string? EndScenario() => Text(++_ended);

    /// <summary>A part of the present scenario has ended.</summary>
    /// <param name="done">How many parts have.</param>
    /// <param name="parts">How many there are.</param>
    public string? EndPart(int done, int parts) => Text(_ended + ((double)done / parts));

    // Null at the end: nothing is left then.
    private string? Text(double done)
    {
        if (done >= scenarios)
        {
            return null;
        }

        TimeSpan left = time.GetElapsedTime(_begun) * ((scenarios - done) / done);
        string length = left.TotalMinutes >= 1.5
            ? string.Create(CultureInfo.InvariantCulture, $"{left.TotalMinutes:0} min")
            : string.Create(CultureInfo.InvariantCulture, $"{left.TotalSeconds:0} s");
        return string.Create(CultureInfo.InvariantCulture, $"{done / scenarios:0 %} done, about {length} left");
    }
}
