using System.Globalization;
using FastPort.Configuration;
using FastPort.OpcUa.Client;

namespace FastPort.OpcBridge.Configuration;

/// <summary>
/// Tags that are sampled and published alike. Their changes are asked for all the time: reads are answered from the cache.
/// </summary>
internal sealed class GroupOptions
{
    private static readonly TimeSpan Longest = TimeSpan.FromDays(1);

    /// <summary>How often the server sends what has changed.</summary>
    public TimeSpan PublishingInterval { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>How often the server looks at a value; as often as it sends, if it is zero.</summary>
    public TimeSpan SamplingInterval { get; set; }

    /// <summary>Changes up to this amount are not sent; 0 for all. With a percent sign of the tag's range.</summary>
    public string Deadband { get; set; } = "0";

    /// <summary>The deadband for the server.</summary>
    public Deadband Filter { get; private set; }

    /// <summary>
    /// The deadband of a tag: servers refuse one of what is not a number, and one in percent without a range (OPC 10000-8, 7.2).
    /// </summary>
    /// <param name="isNumber">Whether the tag's type is one of numbers.</param>
    /// <param name="range">The tag's range; null for none.</param>
    public Deadband FilterOf(bool isNumber, (double Low, double High)? range) =>
        isNumber && (!Deadband.EndsWith('%') || range is { } ends && ends.Low < ends.High) ? Filter : default;

    public void Describe(OptionSection section)
    {
        PublishingInterval = section.Time(nameof(PublishingInterval), PublishingInterval, TimeSpan.FromMilliseconds(1), Longest);
        SamplingInterval = section.Time(nameof(SamplingInterval), SamplingInterval, TimeSpan.Zero, Longest);
        Deadband = section.Text(nameof(Deadband), Deadband, static text => TryParse(text, out _), "give a number, or one up to 100 with %");
        Filter = TryParse(Deadband, out Deadband filter) ? filter : default;
    }

    private static bool TryParse(string? text, out Deadband deadband)
    {
        bool isPercent = text?.EndsWith('%') == true;
        bool isNumber = double.TryParse(
            text?.TrimEnd('%'), NumberStyles.Float, CultureInfo.InvariantCulture, out double value);
        bool isAllowed = isNumber && double.IsFinite(value) && value >= 0 && (!isPercent || value <= 100);
        deadband = !isAllowed || value == 0 ? OpcUa.Client.Deadband.None
            : isPercent ? OpcUa.Client.Deadband.Percent(value)
            : OpcUa.Client.Deadband.Absolute(value);
        return isAllowed;
    }
}
