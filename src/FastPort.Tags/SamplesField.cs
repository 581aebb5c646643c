namespace FastPort.Tags;

/// <summary>Numbers of the fields of TagSamples in tags.proto.</summary>
internal static class SamplesField
{
    public const int Count = 1;
    public const int Types = 2;
    public const int Statuses = 3;
    public const int SourceTimes = 4;
    public const int ServerTimes = 5;
    public const int Bools = 6;
    public const int Ints = 7;
    public const int UInts = 8;
    public const int Longs = 9;
    public const int ULongs = 10;
    public const int Floats = 11;
    public const int Doubles = 12;
    public const int Sizes = 13;
    public const int Data = 14;
    public const int Lengths = 15;
    public const int Dimensions = 16;
}
