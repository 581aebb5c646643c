using System.Globalization;

namespace FastPort.TestHost.Impaired;

/// <summary>What a link does to the packets of each direction.</summary>
/// <param name="LossPercent">The share that is lost.</param>
/// <param name="DelayMilliseconds">How long every other packet takes; none takes less.</param>
/// <param name="LatePercent">The share of those that takes longer, so that later packets overtake them.</param>
/// <param name="Seed">Decides which packets these are: the n-th of a direction fares the same in each run.</param>
internal sealed record LinkImpairment(double LossPercent, int DelayMilliseconds, double LatePercent, int Seed)
{
    /// <summary>How much longer a late packet takes, at most.</summary>
    public const double MaxLateMilliseconds = 10;

    public static LinkImpairment Parse(string loss, string delay, string late, string seed) => new(
        double.Parse(loss, CultureInfo.InvariantCulture),
        int.Parse(delay, CultureInfo.InvariantCulture),
        double.Parse(late, CultureInfo.InvariantCulture),
        int.Parse(seed, CultureInfo.InvariantCulture));
}
