namespace FastPort.Comparisons.Candidates;

/// <summary>The line by which a server says that it is ready: <c>listening on tcp://127.0.0.1:6628</c>.</summary>
internal static class ListeningLine
{
    private const string Marker = "listening on ";

    /// <summary>The endpoint in a line, or null.</summary>
    public static string? Read(string line)
    {
        int start = line.IndexOf(Marker, StringComparison.Ordinal);
        if (start < 0)
        {
            return null;
        }

        string rest = line[(start + Marker.Length)..];
        int end = rest.IndexOf(' ', StringComparison.Ordinal);
        string endpoint = end < 0 ? rest : rest[..end];
        return endpoint.Contains("://", StringComparison.Ordinal) ? endpoint : null;
    }
}
