namespace FastPort.Tags;

/// <summary>A sample as it is stored in the columns: a number's value is in its bits; of others the value is elsewhere.</summary>
internal readonly record struct RawSample(byte Encoding, ulong Bits, uint Status, long SourceTime, long ServerTime)
{
    /// <summary>Whether the bits are the value, or there is no value.</summary>
    public bool IsNumber => (Encoding & TagTypes.ArrayBit) == 0 && TagTypes.ColumnOf((TagType)Encoding) != TagColumn.Data;
}
