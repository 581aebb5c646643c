using FastPort.Configuration;

namespace FastPort.Transports.Epoll;

/// <summary>How the Linux event loops run. Immutable.</summary>
public sealed record EpollOptions
{
    /// <summary>The maximum number of loops: 256.</summary>
    public const int MaxLoops = 256;

    /// <summary>The maximum of <see cref="SpinMicroseconds"/>: 1 s.</summary>
    public const int MaxSpinMicroseconds = 1_000_000;

    /// <summary>Event loops, one thread each, 0 to 256. Defaults to 0: one per core the process may use.</summary>
    public int Loops { get; init; }

    /// <summary>
    /// How long a loop polls for work before it sleeps, in microseconds, 0 to 1,000,000. A sleeping thread takes tens of microseconds to
    /// wake; a spinning thread occupies its core. An explicit value is used as it is. Defaults to null, adaptive: up to 50 us when the last
    /// waits were shorter than that, never while idle, never when the process may use one core only. At most as many threads spin as the
    /// process has cores, less one; loops with an explicit value count.
    /// </summary>
    public int? SpinMicroseconds { get; init; }

    /// <summary>Whether loop n is bound to the n-th core that the process may use. Defaults to false: the scheduler places them.</summary>
    public bool PinLoops { get; init; }

    internal static int DescribeLoops(OptionSection section, string key, int value) =>
        section.Number(key, value, 0, MaxLoops, $"allowed: values from 0 (one per core) to {MaxLoops}");

    internal static int? DescribeSpin(OptionSection section, string key, int? value) =>
        section.OptionalNumber(
            key, value, 0, MaxSpinMicroseconds, $"allowed: values from 0 to {MaxSpinMicroseconds}, or none for adaptive");

    /// <exception cref="ArgumentOutOfRangeException">A value is outside its range; the message names all such.</exception>
    internal static void ThrowIfOutOfRange(EpollOptions options)
    {
        List<string> problems = [];
        OptionSection.Visit("Epoll", problems, configured: null, options.Check);
        if (problems.Count != 0)
        {
            throw new ArgumentOutOfRangeException(nameof(options), string.Join(' ', problems));
        }
    }

    private void Check(OptionSection section)
    {
        DescribeLoops(section, nameof(Loops), Loops);
        DescribeSpin(section, nameof(SpinMicroseconds), SpinMicroseconds);
    }
}
