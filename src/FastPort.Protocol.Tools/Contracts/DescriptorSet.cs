using System.Globalization;

namespace FastPort.Protocol.Tools.Contracts;

/// <summary>
/// Reads what protoc writes with <c>--descriptor_set_out --include_imports --include_source_info</c>. The numbers are those of fields in
/// google/protobuf/descriptor.proto and of the options in fastport/options.proto.
/// </summary>
internal static class DescriptorSet
{
    private const int FirstTypeOption = 66280;
    private const int TypeOption = 66281;
    private const int RunOption = 66282;

    /// <summary>The files of a set: the imported ones, each behind those that it imports, and the compiled one at the end.</summary>
    /// <exception cref="InvalidDataException">The bytes are no set.</exception>
    public static List<ProtoFile> Read(byte[] bytes)
    {
        var files = new List<ProtoFile>();
        var reader = new WireReader(bytes);
        while (reader.Next())
        {
            if (reader.Field == 1)
            {
                files.Add(ReadFile(reader.Message));
            }
        }

        return files.Count != 0 ? files : throw new InvalidDataException("The set has no file.");
    }

    private static ProtoFile ReadFile(WireReader reader)
    {
        var file = new ProtoFile();
        var services = new List<WireReader>();
        var source = new SourceInfo();
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1:
                    file.Name = reader.Text;
                    break;
                case 2:
                    file.Package = reader.Text;
                    break;
                case 4 or 5:
                    file.Types.Add(ReadName(reader.Message));
                    break;
                case 6:
                    services.Add(reader.Message);
                    break;
                case 8:
                    file.NamespaceOption = ReadNamespace(reader.Message);
                    break;
                case 9:
                    source = SourceInfo.Read(reader.Message);
                    break;
            }
        }

        for (int i = 0; i < services.Count; i++)
        {
            file.Services.Add(ReadService(services[i], source, string.Format(CultureInfo.InvariantCulture, "6,{0}", i)));
        }

        return file;
    }

    private static string ReadName(WireReader reader)
    {
        string name = "";
        while (reader.Next())
        {
            name = reader.Field == 1 ? reader.Text : name;
        }

        return name;
    }

    private static string? ReadNamespace(WireReader options)
    {
        string? name = null;
        while (options.Next())
        {
            name = options.Field == 37 ? options.Text : name;
        }

        return name;
    }

    private static ProtoService ReadService(WireReader reader, SourceInfo source, string path)
    {
        var service = new ProtoService
        {
            Place = source.PlaceOf(path + ",1"),
            Comment = source.CommentOf(path),
            FirstTypePlace = source.PlaceOf($"{path},3,{FirstTypeOption}"),
        };
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1:
                    service.Name = reader.Text;
                    break;
                case 2:
                    string methodPath = string.Format(CultureInfo.InvariantCulture, "{0},2,{1}", path, service.Methods.Count);
                    service.Methods.Add(ReadMethod(reader.Message, source, methodPath));
                    break;
                case 3:
                    WireReader options = reader.Message;
                    while (options.Next())
                    {
                        service.IsDeprecated |= options.Field == 33 && options.Number != 0;
                        service.FirstType = options.Field == FirstTypeOption ? (uint)options.Number : service.FirstType;
                    }

                    break;
            }
        }

        return service;
    }

    private static ProtoMethod ReadMethod(WireReader reader, SourceInfo source, string path)
    {
        var method = new ProtoMethod
        {
            Place = source.PlaceOf(path + ",1"),
            Comment = source.CommentOf(path),
            TypePlace = source.PlaceOf($"{path},4,{TypeOption}"),
        };
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1:
                    method.Name = reader.Text;
                    break;
                case 2:
                    method.Request = reader.Text;
                    break;
                case 3:
                    method.Reply = reader.Text;
                    break;
                case 4:
                    ReadOptions(reader.Message, method);
                    break;
                case 5:
                    method.ClientStreams = reader.Number != 0;
                    break;
                case 6:
                    method.ServerStreams = reader.Number != 0;
                    break;
            }
        }

        return method;
    }

    private static void ReadOptions(WireReader options, ProtoMethod method)
    {
        while (options.Next())
        {
            switch (options.Field)
            {
                case 33:
                    method.IsDeprecated = options.Number != 0;
                    break;
                case TypeOption:
                    method.Type = (uint)options.Number;
                    break;
                case RunOption:
                    method.Run = (MethodRun)options.Number;
                    break;
            }
        }
    }
}
