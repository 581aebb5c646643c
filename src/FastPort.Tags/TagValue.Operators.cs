namespace FastPort.Tags;

/// <content>Operators for common types.</content>
public readonly partial struct TagValue
{
    /// <summary>Whether two values have the same type and are equal.</summary>
    public static bool operator ==(TagValue left, TagValue right) => left.Equals(right);

    /// <summary>Whether two values differ in type or value.</summary>
    public static bool operator !=(TagValue left, TagValue right) => !left.Equals(right);

    /// <summary>A Boolean.</summary>
    public static implicit operator TagValue(bool value) => From(value);

    /// <summary>An Int32.</summary>
    public static implicit operator TagValue(int value) => From(value);

    /// <summary>A UInt32.</summary>
    public static implicit operator TagValue(uint value) => From(value);

    /// <summary>An Int64.</summary>
    public static implicit operator TagValue(long value) => From(value);

    /// <summary>A Float.</summary>
    public static implicit operator TagValue(float value) => From(value);

    /// <summary>A Double.</summary>
    public static implicit operator TagValue(double value) => From(value);

    /// <summary>A String.</summary>
    public static implicit operator TagValue(string? value) => From(value);

    /// <summary>A DateTime.</summary>
    public static implicit operator TagValue(DateTime value) => From(value);
}
