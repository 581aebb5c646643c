namespace FastPort.Comparisons.Scenarios;

/// <summary>Sizes as people write them.</summary>
internal static class PayloadSize
{
    public static string Text(int bytes) => bytes >= 1024 && bytes % 1024 == 0 ? $"{bytes / 1024} KiB" : $"{bytes} B";
}
