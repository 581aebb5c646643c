using System.Globalization;
using FastPort.Configuration;
using FastPort.OpcUa.Client;

namespace FastPort.Tags.OpcUa;

/// <summary>
/// Sampling and publishing of a group of tags. The server reports their changes at all times, so reads are answered from the cache.
/// </summary>
public sealed class OpcUaTagGroupOptions
{
    private static readonly TimeSpan Longest = TimeSpan.FromDays(1);

    /// <summary>The interval at which the server sends changes, 1 ms to a day. Defaults to 1 s.</summary>
    public TimeSpan PublishingInterval { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>The interval at which the server samples values, up to a day. Defaults to zero: the publishing interval.</summary>
    public TimeSpan SamplingInterval { get; set; }

    /// <summary>
    /// Changes up to this amount are not sent: a number, or up to 100 with a percent sign for a fraction of the tag's range. Defaults to
    /// <c>0</c>: all changes are sent.
    /// </summary>
    public string Deadband
    {
        get;
        set
        {
            field = value;
            Filter = TryParse(value, out Deadband filter) ? filter : default;
        }
    } = "0";

    /// <summary>The deadband for the server; none while the text is not valid.</summary>
    internal Deadband Filter { get; private set; }

    /// <summary>
    /// The deadband of a tag: servers refuse a deadband for a type other than numbers, and a deadband in percent without a range (OPC
    /// 10000-8, 7.2).
    /// </summary>
    /// <param name="isNumber">Whether the tag's type is a number.</param>
    /// <param name="range">The tag's range; null for none.</param>
    internal Deadband FilterOf(bool isNumber, (double Low, double High)? range) =>
        isNumber && (!Deadband.EndsWith('%') || range is { } ends && ends.Low < ends.High) ? Filter : default;

    internal void Describe(OptionSection section)
    {
        PublishingInterval = section.Time(nameof(PublishingInterval), PublishingInterval, TimeSpan.FromMilliseconds(1), Longest);
        SamplingInterval = section.Time(nameof(SamplingInterval), SamplingInterval, TimeSpan.Zero, Longest);
        Deadband = section.Text(nameof(Deadband), Deadband, static text => TryParse(text, out _), "give a number, or one up to 100 with %");
    }

    private static bool TryParse(string? text, out Deadband deadband)
    {
        bool isPercent = text?.EndsWith('%') == true;
        bool isNumber = double.TryParse(
            text?.TrimEnd('%'), NumberStyles.Float, CultureInfo.InvariantCulture, out double value);
        bool isAllowed = isNumber && double.IsFinite(value) && value >= 0 && (!isPercent || value <= 100);
        deadband = !isAllowed || value == 0 ? FastPort.OpcUa.Client.Deadband.None
            : isPercent ? FastPort.OpcUa.Client.Deadband.Percent(value)
            : FastPort.OpcUa.Client.Deadband.Absolute(value);
        return isAllowed;
    }
}
