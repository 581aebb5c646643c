namespace FastPort.Comparisons.Candidates;

/// <summary>The line by which a server says that it is ready: <c>listening on tcp://127.0.0.1:6628</c>.</summary>
internal static class ListeningLine
{
    private const string Marker = "listening on ";

    public static Uri? Read(string line)
    {
        int start = line.IndexOf(Marker, StringComparison.Ordinal);
        if (start < 0)
        {
            return null;
        }

        string rest = line[(start + Marker.Length)..];
        int end = rest.IndexOf(' ', StringComparison.Ordinal);
        return Uri.TryCreate(end < 0 ? rest : rest[..end], UriKind.Absolute, out Uri? endpoint) && endpoint.Port > 0 ? endpoint : null;
    }
}
