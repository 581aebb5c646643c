namespace FastPort.OpcUa.Client;

/// <summary>How much a number must change to be reported (OPC 10000-4, 7.22.2; OPC 10000-8, 7.2).</summary>
public readonly record struct Deadband
{
    private Deadband(uint type, double value)
    {
        Type = type;
        Value = value;
    }

    /// <summary>Every change is reported.</summary>
    public static Deadband None => default;

    /// <summary>0 for none, 1 for absolute, 2 for percent: as it is sent.</summary>
    internal uint Type { get; }

    internal double Value { get; }

    /// <summary>A change is reported if it is larger than a number.</summary>
    /// <param name="value">The number, in the variable's unit; 0 or more.</param>
    public static Deadband Absolute(double value)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(value);
        return new(1, value);
    }

    /// <summary>
    /// A change is reported if it is larger than a percentage of the variable's range. For variables with the property EURange.
    /// </summary>
    /// <param name="percent">The percentage; 0 to 100.</param>
    public static Deadband Percent(double percent)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(percent);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(percent, 100);
        return new(2, percent);
    }
}
