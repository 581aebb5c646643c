namespace FastPort.Protocol.Tools.Contracts;

/// <summary>Where the declarations of a <c>.proto</c> file are, and their comments, by path: numbers of fields and indexes.</summary>
internal sealed class SourceInfo
{
    private readonly Dictionary<string, Place> _places = new(StringComparer.Ordinal);
    private readonly Dictionary<string, string> _comments = new(StringComparer.Ordinal);

    public static SourceInfo Read(WireReader reader)
    {
        var info = new SourceInfo();
        while (reader.Next())
        {
            if (reader.Field == 1)
            {
                info.Add(reader.Message);
            }
        }

        return info;
    }

    public Place PlaceOf(string path) => _places.TryGetValue(path, out Place place) ? place : default;

    /// <summary>The comment above a declaration, or else the one behind it; empty if there is none.</summary>
    public string CommentOf(string path) => _comments.TryGetValue(path, out string? comment) ? comment : "";

    private void Add(WireReader location)
    {
        string path = "";
        string leading = "";
        string trailing = "";
        Place place = default;
        while (location.Next())
        {
            switch (location.Field)
            {
                case 1:
                    path = string.Join(",", location.Numbers);
                    break;
                case 2:
                    List<int> span = location.Numbers;
                    place = new Place(span[0] + 1, span[1] + 1);
                    break;
                case 3:
                    leading = location.Text;
                    break;
                case 4:
                    trailing = location.Text;
                    break;
            }
        }

        _places[path] = place;
        string comment = leading.Trim().Length != 0 ? leading : trailing;
        if (comment.Trim().Length != 0)
        {
            _comments[path] = comment;
        }
    }
}
