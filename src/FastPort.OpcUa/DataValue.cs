namespace FastPort.OpcUa;

/// <summary>A value with its status and times (OPC 10000-4, 7.11). Immutable; holds numbers without boxing.</summary>
public readonly record struct DataValue
{
    /// <summary>Creates a value with status Good and without times.</summary>
    /// <param name="value">The value.</param>
    public DataValue(Variant value) => Value = value;

    /// <summary>Creates a value with status and times.</summary>
    /// <param name="value">The value.</param>
    /// <param name="status">The status.</param>
    /// <param name="sourceTimestamp">When the source had the value; default for none. Defaults to none.</param>
    /// <param name="serverTimestamp">When the server last confirmed the value; default for none. Defaults to none.</param>
    public DataValue(Variant value, StatusCode status, DateTime sourceTimestamp = default, DateTime serverTimestamp = default)
    {
        Value = value;
        Status = status;
        SourceTimestamp = sourceTimestamp;
        ServerTimestamp = serverTimestamp;
    }

    /// <summary>The value; the null variant for none.</summary>
    public Variant Value { get; init; }

    /// <summary>The status. Defaults to Good.</summary>
    public StatusCode Status { get; init; }

    /// <summary>Part of <see cref="SourceTimestamp"/> below 100 ns, in units of 10 ps, 0 to 9,999.</summary>
    public ushort SourcePicoseconds { get; init; }

    /// <summary>Part of <see cref="ServerTimestamp"/> below 100 ns, in units of 10 ps, 0 to 9,999.</summary>
    public ushort ServerPicoseconds { get; init; }

    /// <summary>When the source had the value, UTC; default for none.</summary>
    public DateTime SourceTimestamp { get; init; }

    /// <summary>When the server last confirmed the value, UTC; default for none.</summary>
    public DateTime ServerTimestamp { get; init; }

    /// <summary>A value with status Good and without times.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator DataValue(Variant value) => new(value);

    /// <summary>The value, followed by the status unless it is good.</summary>
    public override string ToString() => Status.IsGood ? Value.ToString() : $"{Value} [{Status}]";
}
