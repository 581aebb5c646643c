using System.Text.Json.Serialization;

namespace FastPort.Comparisons.Reports;

/// <summary>On which side of its value a target lies.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<TargetBound>))]
internal enum TargetBound
{
    /// <summary>The ratio should not be smaller.</summary>
    AtLeast,

    /// <summary>The ratio should not be larger.</summary>
    AtMost,
}

/// <summary>What a ratio should reach.</summary>
internal sealed record Target(TargetBound Bound, double Value)
{
    public static Target AtLeast(double value) => new(TargetBound.AtLeast, value);

    public static Target AtMost(double value) => new(TargetBound.AtMost, value);

    public bool IsReachedBy(double ratio) => Bound == TargetBound.AtLeast ? ratio >= Value : ratio <= Value;

    public override string ToString() => $"{(Bound == TargetBound.AtLeast ? "at least" : "at most")} {Value:0.0#}";
}
