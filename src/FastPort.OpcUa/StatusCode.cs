namespace FastPort.OpcUa;

/// <summary>
/// The result of an operation (OPC 10000-4, 7.38): its two highest bits are the severity, the upper 16 bits the reason, the lower 16 bits
/// flags. The well-known codes are in <see cref="StatusCodes"/>.
/// </summary>
/// <param name="Value">All 32 bits.</param>
public readonly record struct StatusCode(uint Value)
{
    /// <summary>Whether the operation succeeded.</summary>
    public bool IsGood => Value < 0x4000_0000;

    /// <summary>Whether the result may be used with care.</summary>
    public bool IsUncertain => (Value & 0xC000_0000) == 0x4000_0000;

    /// <summary>Whether the operation failed.</summary>
    public bool IsBad => Value >= 0x8000_0000;

    /// <summary>The code without its flags.</summary>
    public StatusCode Code => new(Value & 0xFFFF_0000);

    /// <summary>The name that the standard gives the code, or the value in hexadecimal.</summary>
    public override string ToString() => StatusNames.TextOf(Value);
}
